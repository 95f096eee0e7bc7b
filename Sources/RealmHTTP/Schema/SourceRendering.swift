// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Model classes for the Swift SDK.
struct SwiftRendering {
    private let rules = IdentifierRules(
        reserved: [
            "class", "struct", "enum", "protocol", "extension", "func", "var", "let", "init", "deinit", "self", "Self", "super",
            "in", "is", "as", "if", "else", "for", "while", "repeat", "switch", "case", "default", "break", "continue", "return",
            "guard", "where", "do", "try", "catch", "throw", "throws", "import", "public", "private", "internal", "fileprivate",
            "static", "subscript", "typealias", "operator", "true", "false", "nil", "Any", "Type", "Protocol", "defer", "inout",
        ],
        quote: { "`\($0)`" })

    let head = "import RealmSwift\n\n"

    func text(_ classes: [ClassSchema]) -> String { head + classes.map { text($0) }.joined(separator: "\n") }

    func text(_ one: ClassSchema) -> String {
        let name = rules.identifier(one.name)
        let base = one.kind == .embedded ? "EmbeddedObject" : one.kind == .asymmetric ? "AsymmetricObject" : "Object"
        var lines = ["class \(name.text): \(base) {"]
        if name.isMapped { lines.append("    override class func _realmObjectName() -> String? { \(quoted(one.name)) }") }
        let renamed = one.properties.filter { rules.identifier($0.name).isMapped }
        if !renamed.isEmpty {
            let pairs = renamed.map { "\(quoted(rules.identifier($0.name).text)): \(quoted($0.name))" }
            lines.append("    override class func propertiesMapping() -> [String: String] { [\(pairs.joined(separator: ", "))] }")
        }
        for property in one.properties { lines.append("    " + line(property, isKey: property.name == one.primaryKey)) }
        for backlink in one.backlinks {
            let origin = rules.identifier(backlink.className).text
            let label = rules.identifier(backlink.name ?? "\(backlink.className)_\(backlink.property)").text
            lines.append("    @Persisted(originProperty: \(quoted(backlink.property))) var \(label): LinkingObjects<\(origin)>")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    private func line(_ property: PropertySchema, isKey: Bool) -> String {
        var attribute = "@Persisted"
        if isKey {
            attribute += "(primaryKey: true)"
        } else if let index = property.index {
            attribute += index == .fullText ? "(indexed: .fullText)" : "(indexed: true)"
        }
        return "\(attribute) var \(rules.identifier(property.name).text): \(type(property))"
    }

    private func type(_ property: PropertySchema) -> String {
        let isLinkInList = property.type == .object && (property.collection == .list || property.collection == .set)
        let element = element(property) + (property.isOptional && property.type != .mixed && !isLinkInList ? "?" : "")
        switch property.collection {
        case nil: return element
        case .list: return "List<\(element)>"
        case .set: return "MutableSet<\(element)>"
        case .dictionary: return "Map<String, \(element)>"
        }
    }

    private func element(_ property: PropertySchema) -> String {
        switch property.type {
        case .int: return "Int"
        case .bool: return "Bool"
        case .string: return "String"
        case .data: return "Data"
        case .date: return "Date"
        case .float: return "Float"
        case .double: return "Double"
        case .decimal128: return "Decimal128"
        case .objectId: return "ObjectId"
        case .uuid: return "UUID"
        case .mixed: return "AnyRealmValue"
        case .object: return rules.identifier(property.objectType ?? "").text
        }
    }
}

/// Model classes for the Kotlin SDK.
struct KotlinRendering {
    private let rules = IdentifierRules(
        reserved: [
            "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is", "null",
            "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val", "var", "when",
            "while",
        ],
        quote: { "`\($0)`" })

    func text(_ classes: [ClassSchema]) -> String { head + classes.map { text($0) }.joined(separator: "\n") }

    var head: String {
        let imports = [
            "io.realm.kotlin.ext.*", "io.realm.kotlin.types.*", "io.realm.kotlin.types.annotations.*",
            "org.mongodb.kbson.BsonObjectId", "org.mongodb.kbson.Decimal128",
        ]
        return imports.map { "import \($0)\n" }.joined() + "\n"
    }

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

/// Interfaces of objects as the JSON of this server has them.
struct TypeScriptRendering {
    private let rules = IdentifierRules(
        reserved: ["any", "boolean", "number", "string", "object", "null", "undefined", "never", "unknown", "void", "symbol"],
        quote: { "\($0)_" })

    let head = "export interface Link { $link: { class: string; key: string } }\n\n"

    func text(_ classes: [ClassSchema]) -> String {
        head + classes.map { text($0) }.joined(separator: "\n")
    }

    func text(_ one: ClassSchema) -> String {
        var lines = ["export interface \(rules.identifier(one.name).text) {"]
        if one.kind != .embedded { lines.append("  $meta?: { class: string; key: string; etag?: string };") }
        for property in one.properties {
            let stored = property.name.hasPrefix("$") ? "$" + property.name : property.name
            let isPlain = !rules.identifier(stored).isMapped
            lines.append("  \(isPlain ? stored : quoted(stored)): \(type(property));")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    private func type(_ property: PropertySchema) -> String {
        let element = element(property) + (property.isOptional && property.type != .mixed ? " | null" : "")
        switch property.collection {
        case nil: return element
        case .list, .set: return "Array<\(element)>"
        case .dictionary: return "Record<string, \(element)>"
        }
    }

    private func element(_ property: PropertySchema) -> String {
        switch property.type {
        case .int: return "number"
        case .bool: return "boolean"
        case .string, .data, .date, .decimal128, .objectId, .uuid: return "string"
        case .float, .double: return "number | \"NaN\" | \"Infinity\" | \"-Infinity\""
        case .mixed: return "unknown"
        case .object: return "Link | \(rules.identifier(property.objectType ?? "").text)"
        }
    }
}

/// A string literal. Kotlin would read a dollar sign as the start of a variable.
private func quoted(_ text: String, escaping special: Set<Character> = ["\"", "\\"]) -> String {
    "\"" + text.map { special.contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
}
