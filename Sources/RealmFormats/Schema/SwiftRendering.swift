// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Schemas as model classes for the Swift SDK of Realm.
///
/// The source is a start for an app that opens the same file; people may edit it.
struct SwiftRendering {
    /// The names that Swift does not accept as identifiers.
    private let rules = IdentifierRules(
        reserved: [
            "class", "struct", "enum", "protocol", "extension", "func", "var", "let", "init", "deinit", "self", "Self", "super",
            "in", "is", "as", "if", "else", "for", "while", "repeat", "switch", "case", "default", "break", "continue", "return",
            "guard", "where", "do", "try", "catch", "throw", "throws", "import", "public", "private", "internal", "fileprivate",
            "static", "subscript", "typealias", "operator", "true", "false", "nil", "Any", "Type", "Protocol", "defer", "inout",
        ],
        quote: { "`\($0)`" })

    /// The import of the Swift SDK, which is needed once before all classes.
    let head = "import RealmSwift\n\n"

    /// Returns the source of all classes, with the import before them.
    ///
    /// - Parameter classes: The classes, in the order of the source.
    func text(_ classes: [ClassSchema]) -> String { head + classes.map { text($0) }.joined(separator: "\n") }

    /// Returns the source of one class, without the import.
    ///
    /// Names that are not identifiers are mapped, and the class states the stored names. Linking objects without a name in the
    /// configuration are named after class and property. Links to classes that the realm does not show are left out, as in the
    /// model of an app that has a part of the classes.
    func text(_ one: ClassSchema) -> String {
        let one = one.withoutHiddenLinks
        let name = rules.identifier(one.name)
        let base = one.kind == .embedded ? "EmbeddedObject" : one.kind == .asymmetric ? "AsymmetricObject" : "Object"
        var lines = ["class \(name.text): \(base) {"]
        if name.isMapped { lines.append("    override class func _realmObjectName() -> String? { \(quoted(one.name)) }") }
        let identifiers = rules.identifiers(one.properties.map(\.name))
        let renamed = zip(identifiers, one.properties).filter { $0.0.isMapped }
        if !renamed.isEmpty {
            let pairs = renamed.map { "\(quoted($0.0.text)): \(quoted($0.1.name))" }
            lines.append(
                "    override class func propertiesMapping() -> [String: String] { [\(pairs.joined(separator: ", "))] }")
        }
        for (identifier, property) in zip(identifiers, one.properties) {
            lines.append("    " + line(property, identifier.text, isKey: property.name == one.primaryKey))
        }
        for backlink in one.backlinks {
            let origin = rules.identifier(backlink.className).text
            let label = rules.identifier(backlink.name ?? "\(backlink.className)_\(backlink.property)").text
            lines.append("    @Persisted(originProperty: \(quoted(backlink.property))) var \(label): LinkingObjects<\(origin)>")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    /// Returns the declaration of one property.
    ///
    /// - Parameters:
    ///   - identifier: Its name in the model.
    ///   - isKey: Whether it is the primary key, which is indexed implicitly.
    private func line(_ property: PropertySchema, _ identifier: String, isKey: Bool) -> String {
        var attribute = "@Persisted"
        if isKey {
            attribute += "(primaryKey: true)"
        } else if let index = property.index {
            attribute += index == .fullText ? "(indexed: .fullText)" : "(indexed: true)"
        }
        return "\(attribute) var \(identifier): \(type(property))"
    }

    /// Returns the type of a property. Links in lists and sets are never null there, and Mixed is never optional.
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

    /// Returns the type of a single value, without a mark for null.
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
