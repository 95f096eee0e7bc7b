// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Schemas as model classes for the Kotlin SDK of Realm.
///
/// The source is a start for an app that opens the same file; people may edit it.
struct KotlinRendering {
    /// The names that Kotlin does not accept as identifiers.
    private let rules = IdentifierRules(
        reserved: [
            "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is", "null",
            "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val", "var", "when",
            "while",
        ],
        quote: { "`\($0)`" })

    /// Returns the source of all classes, with the imports before them.
    ///
    /// - Parameter classes: The classes, in the order of the source.
    func text(_ classes: [ClassSchema]) -> String { head + classes.map { text($0) }.joined(separator: "\n") }

    /// The imports of everything that some class may need, and an empty line.
    var head: String {
        let imports = [
            "io.realm.kotlin.ext.*", "io.realm.kotlin.types.*", "io.realm.kotlin.types.annotations.*",
            "org.mongodb.kbson.BsonObjectId", "org.mongodb.kbson.Decimal128",
        ]
        return imports.map { "import \($0)\n" }.joined() + "\n"
    }

    /// Returns the source of one class, without imports.
    ///
    /// Links from other classes are left out: the file does not store the names that a model gives them. Links to classes that
    /// the realm does not show are left out, as in the model of an app that has a part of the classes.
    func text(_ one: ClassSchema) -> String {
        let one = one.withoutHiddenLinks
        let name = rules.identifier(one.name)
        let base =
            one.kind == .embedded ? "EmbeddedRealmObject" : one.kind == .asymmetric ? "AsymmetricRealmObject" : "RealmObject"
        var lines: [String] = []
        if name.isMapped { lines.append("@PersistedName(\(kotlinQuoted(one.name)))") }
        lines.append("class \(name.text) : \(base) {")
        for (identifier, property) in zip(rules.identifiers(one.properties.map(\.name)), one.properties) {
            let annotations = annotations(
                property, isKey: property.name == one.primaryKey, isMapped: identifier.isMapped)
            for annotation in annotations { lines.append("    \(annotation)") }
            lines.append("    var \(identifier.text): \(type(property)) = \(initial(property))")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    /// Returns the annotations of a property: primary key, index, and its stored name where the identifier differs.
    ///
    /// - Parameters:
    ///   - isKey: Whether it is the primary key, which needs no other index.
    ///   - isMapped: Whether its identifier differs from its name.
    private func annotations(_ property: PropertySchema, isKey: Bool, isMapped: Bool) -> [String] {
        var annotations: [String] = []
        if isKey {
            annotations.append("@PrimaryKey")
        } else if let index = property.index {
            annotations.append(index == .fullText ? "@FullText" : "@Index")
        }
        if isMapped { annotations.append("@PersistedName(\(kotlinQuoted(property.name)))") }
        return annotations
    }

    /// Returns the type of a property. Links in lists and sets are never null there.
    private func type(_ property: PropertySchema) -> String {
        let isLinkInList = property.type == .object && (property.collection == .list || property.collection == .set)
        let element = element(property) + (property.isOptional && !isLinkInList ? "?" : "")
        switch property.collection {
        case nil: return element
        case .list: return "RealmList<\(element)>"
        case .set: return "RealmSet<\(element)>"
        case .dictionary: return "RealmDictionary<\(element)>"
        }
    }

    /// Returns the type of a single value, without a mark for null.
    private func element(_ property: PropertySchema) -> String {
        switch property.type {
        case .int: return "Long"
        case .bool: return "Boolean"
        case .string: return "String"
        case .data: return "ByteArray"
        case .date: return "RealmInstant"
        case .float: return "Float"
        case .double: return "Double"
        case .decimal128: return "Decimal128"
        case .objectId: return "BsonObjectId"
        case .uuid: return "RealmUUID"
        case .mixed: return "RealmAny"
        case .object: return rules.identifier(property.objectType ?? "").text
        }
    }

    /// Returns a text as a Kotlin string literal, in which a dollar sign begins a variable unless it is escaped.
    private func kotlinQuoted(_ text: String) -> String { quoted(text, escaping: ["\"", "\\", "$"]) }

    /// Returns the initial value that Kotlin requires of a property: empty, zero or null.
    private func initial(_ property: PropertySchema) -> String {
        switch property.collection {
        case .list: return "realmListOf()"
        case .set: return "realmSetOf()"
        case .dictionary: return "realmDictionaryOf()"
        case nil: break
        }
        if property.isOptional { return "null" }
        switch property.type {
        case .int: return "0"
        case .bool: return "false"
        case .string: return "\"\""
        case .data: return "byteArrayOf()"
        case .date: return "RealmInstant.from(0, 0)"
        case .float: return "0.0f"
        case .double: return "0.0"
        case .decimal128: return "Decimal128(\"0\")"
        case .objectId: return "BsonObjectId()"
        case .uuid: return "RealmUUID.random()"
        case .mixed, .object: return "null"
        }
    }
}
