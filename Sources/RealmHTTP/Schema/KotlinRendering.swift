// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Model classes for the Kotlin SDK.
struct KotlinRendering {
    private let rules = IdentifierRules(
        reserved: [
            "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is", "null",
            "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val", "var", "when",
            "while",
        ],
        quote: { "`\($0)`" })

    /// The source of all classes.
    func text(_ classes: [ClassSchema]) -> String { head + classes.map { text($0) }.joined(separator: "\n") }

    /// The imports, of which only those that are needed are written.
    var head: String {
        let imports = [
            "io.realm.kotlin.ext.*", "io.realm.kotlin.types.*", "io.realm.kotlin.types.annotations.*",
            "org.mongodb.kbson.BsonObjectId", "org.mongodb.kbson.Decimal128",
        ]
        return imports.map { "import \($0)\n" }.joined() + "\n"
    }

    /// The source of one class.
    func text(_ one: ClassSchema) -> String {
        let name = rules.identifier(one.name)
        let base =
            one.kind == .embedded ? "EmbeddedRealmObject" : one.kind == .asymmetric ? "AsymmetricRealmObject" : "RealmObject"
        var lines: [String] = []
        if name.isMapped { lines.append("@PersistedName(\(kotlinQuoted(one.name)))") }
        lines.append("class \(name.text) : \(base) {")
        for property in one.properties {
            for annotation in annotations(property, isKey: property.name == one.primaryKey) { lines.append("    \(annotation)") }
            lines.append("    var \(rules.identifier(property.name).text): \(type(property)) = \(initial(property))")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    private func annotations(_ property: PropertySchema, isKey: Bool) -> [String] {
        var annotations: [String] = []
        if isKey {
            annotations.append("@PrimaryKey")
        } else if let index = property.index {
            annotations.append(index == .fullText ? "@FullText" : "@Index")
        }
        if rules.identifier(property.name).isMapped { annotations.append("@PersistedName(\(kotlinQuoted(property.name)))") }
        return annotations
    }

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

    private func kotlinQuoted(_ text: String) -> String { quoted(text, escaping: ["\"", "\\", "$"]) }

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
