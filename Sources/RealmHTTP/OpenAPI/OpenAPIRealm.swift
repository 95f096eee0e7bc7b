// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// The description of one realm: an operation per class, and a schema per class with its properties.
///
/// Names that are no identifiers are mapped; the original stands in `x-realm-name`.
package struct OpenAPIRealm {
    private let realm: String
    private let snapshot: Snapshot
    private let ints: OpenAPIDocument.Integers
    private let pageLimit: Int
    private let identifiers: [TableKey: String]

    /// The description of the realm called `realm`, for a server with these limits.
    package init(
        realm: String, snapshot: Snapshot, ints: OpenAPIDocument.Integers = .number, limits: Limits = Limits()
    ) {
        self.realm = realm
        self.ints = ints
        pageLimit = limits.page
        self.snapshot = snapshot
        identifiers = OpenAPIRealm.identifiers(of: snapshot)
    }

    /// The whole document in memory. Large schemas are better written by `write`.
    package func document(version: String) -> DocumentValue { document(version: version, ofClasses: snapshot.classes) }

    private func document(version: String, ofClasses classes: [Table]) -> DocumentValue {
        [
            "openapi": "3.0.3",
            "info": ["title": .string(realm), "version": .string(version), "description": "Describes the classes of one realm."],
            "servers": [["url": "/"]],
            "paths": .object(classes.flatMap(paths)),
            "components": OpenAPIDocument.components(ints, pageLimit: pageLimit, adding: classes.flatMap(schemas)),
        ]
    }

    /// The same as JSON, class by class, so that no more than one is in memory besides the text.
    package func write(version: String, to buffer: OutputBuffer, _ budget: WorkBudget) throws(StorageError) {
        let head = document(version: version, ofClasses: [])
        buffer.append("{" as StaticString)
        for name in ["openapi", "info", "servers"] {
            buffer.append(jsonString: name)
            buffer.append(UInt8(ascii: ":"))
            buffer.append((head[name] ?? .null).json)
            buffer.append(UInt8(ascii: ","))
        }
        buffer.append("\"paths\":{" as StaticString)
        var separator = ""
        for table in snapshot.classes {
            for member in paths(table) { OpenAPIRealm.append(member.name, member.value, separator: &separator, to: buffer) }
            try budget.spend(table.columns.count * OpenAPIRealm.unitsPerColumn)
            try budget.requireRoom(for: buffer.count)
        }
        buffer.append("},\"components\":" as StaticString)
        // The schemas come last in there; those of the classes follow.
        buffer.append(String((head["components"] ?? .object([])).json.dropLast(2)))
        separator = ","
        for table in snapshot.classes {
            for (name, value) in schemas(table) { OpenAPIRealm.append(name, value, separator: &separator, to: buffer) }
            try budget.spend(table.columns.count * OpenAPIRealm.unitsPerColumn)
            try budget.requireRoom(for: buffer.count)
        }
        buffer.append("}}}" as StaticString)
    }

    /// A column is a dozen small documents.
    private static let unitsPerColumn = 64

    private static func append(_ name: String, _ value: DocumentValue, separator: inout String, to buffer: OutputBuffer) {
        buffer.append(separator)
        separator = ","
        buffer.append(jsonString: name)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(value.json)
    }

    // MARK: - Names

    /// An identifier per class, distinct even where mapping makes two names alike.
    private static func identifiers(of snapshot: Snapshot) -> [TableKey: String] {
        var used = Set(OpenAPISchemas.names)
        var identifiers: [TableKey: String] = [:]
        for table in snapshot.classes {
            let base = identifier(table.className ?? "")
            var candidate = base
            var suffix = 2
            while !used.insert(candidate).inserted || OpenAPIRealm.derived.contains(where: { used.contains(candidate + $0) }) {
                candidate = "\(base)\(suffix)"
                suffix += 1
            }
            for suffix in OpenAPIRealm.derived { used.insert(candidate + suffix) }
            identifiers[table.key] = candidate
        }
        return identifiers
    }

    /// What is put behind the name of a class for its other schemas.
    private static let derived = ["Page", "Create", "Patch", "Changes"]

    private static func identifier(_ name: String) -> String {
        let letters = name.unicodeScalars.map { scalar -> Character in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain ? Character(scalar) : "_"
        }
        let text = String(letters)
        return text.first?.isNumber ?? true ? "C" + text : text
    }

    private func identifier(_ table: Table) -> String { identifiers[table.key] ?? "Object" }

    // MARK: - Operations

    private func paths(_ table: Table) -> [DocumentValue.Member] {
        let name = identifier(table)
        let path = "/v1/realms/\(realm)/objects/\(OpenAPIRealm.percentEncoded(table.className ?? ""))"
        var list = [
            ("get", OperationDescription.list("list\(name)", "Lists the objects of this class.", tag: name, page: "\(name)Page"))
        ]
        var object = [
            ("get", OperationDescription.object("get\(name)", "Returns one object of this class.", tag: name, schema: name))
        ]
        if table.kind != .embedded {
            let create = OpenAPIParts.schema("\(name)Create")
            let patch = OpenAPIParts.schema("\(name)Patch")
            list += [
                ("post", .create("create\(name)", tag: name, body: create)),
                ("patch", .updateMatches("bulkUpdate\(name)", tag: name, body: patch)),
                ("delete", .deleteMatches("bulkDelete\(name)", tag: name)),
            ]
            object += [
                ("put", .replace("replace\(name)", tag: name, schema: name, body: create)),
                ("patch", .update("update\(name)", tag: name, schema: name, body: patch)),
                ("delete", .delete("delete\(name)", tag: name)),
            ]
        }
        return [member(path, list, variables: []), member("\(path)/{key}", object, variables: [.key])]
    }

    private func member(
        _ path: String, _ operations: [(String, OperationDescription)], variables: [PathVariable]
    ) -> DocumentValue.Member {
        .init(path, .object(operations.map { DocumentValue.Member($0, $1.document(variables: variables)) }))
    }

    private static func percentEncoded(_ name: String) -> String {
        name.utf8.map { byte in
            let isPlain = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a || (0x30...0x39).contains(byte) || byte == 0x5f
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    // MARK: - Schemas

    private func schemas(_ table: Table) -> [(String, DocumentValue)] {
        let name = identifier(table)
        let read = [(name, schema(table)), ("\(name)Page", OpenAPISchemas.objectPage(of: OpenAPIParts.schema(name), ints))]
        guard table.kind != .embedded else { return read }
        let changes = ("\(name)Changes", OpenAPIChanges.changes(of: OpenAPIParts.schema(name), ints))
        return read + [changes, ("\(name)Create", input(table, requires: true)), ("\(name)Patch", input(table, requires: false))]
    }

    /// What may be given: for a new object everything that cannot be null, and cannot be made up.
    private func input(_ table: Table, requires: Bool) -> DocumentValue {
        let required = table.columns.filter { column in
            let isMadeUp = column.leafIndex == table.primaryKey?.leafIndex && [.objectID, .uuid].contains(column.type)
            let isNullKey = column.leafIndex == table.primaryKey?.leafIndex && column.isNullable
            return column.collection == nil && (!column.isNullable || isNullKey) && !isMadeUp
        }.map { $0.name.hasPrefix("$") ? "$" + $0.name : $0.name }
        let properties = table.columns.map { column in
            DocumentValue.Member(column.name.hasPrefix("$") ? "$" + column.name : column.name, property(column))
        }
        return .members(
            ("type", "object"), ("required", requires && !required.isEmpty ? .array(required.map { .string($0) }) : nil),
            ("properties", .object(properties)))
    }

    private func schema(_ table: Table) -> DocumentValue {
        var properties: [DocumentValue.Member] = []
        if table.kind != .embedded { properties.append(.init("$meta", OpenAPIParts.schema("Meta"))) }
        for column in table.columns {
            // A stored name that starts with $ is written with a second one in front.
            let member = column.name.hasPrefix("$") ? "$" + column.name : column.name
            properties.append(.init(member, property(column)))
        }
        return .members(
            ("type", "object"),
            ("x-realm-name", identifier(table) == table.className ? nil : .string(table.className ?? "")),
            ("properties", .object(properties)), ("additionalProperties", true))
    }

    private func property(_ column: Column) -> DocumentValue {
        let element = element(column)
        switch column.collection {
        case nil: return element
        case .dictionary: return ["type": "object", "additionalProperties": element]
        case .list, .set: return ["type": "array", "items": element]
        }
    }

    private func element(_ column: Column) -> DocumentValue {
        let nullable = DocumentValue.Member("nullable", true)
        let base = scalar(column)
        return column.isNullable && column.type != .mixed ? base.adding([nullable]) : base
    }

    private func scalar(_ column: Column) -> DocumentValue {
        switch column.type {
        case .int: return ints.schema
        case .bool: return ["type": "boolean"]
        case .string: return ["type": "string"]
        case .binary: return ["type": "string", "format": "byte"]
        case .timestamp: return ["type": "string", "format": "date-time"]
        // NaN and the infinities are strings, so the type stays open.
        case .float, .double: return .object([])
        case .decimal: return ["type": "string", "description": "Is a decimal number as text."]
        case .objectID: return ["type": "string", "pattern": "^[0-9a-f]{24}$"]
        case .uuid: return ["type": "string", "format": "uuid"]
        case .link: return ["type": "object", "additionalProperties": true]
        case .mixed, .backlink: return .object([])
        }
    }
}
