// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmStorage

/// The API description of one realm, derived from its schema in one version.
///
/// It has the operations on objects once per class, and for each class a schema with its
/// properties, so that generated clients have types of their own for the classes. Names of classes
/// that are no identifiers are mapped to identifiers; the original is kept in `x-realm-name`.
/// `/v1/realms/{realm}/openapi.json` returns the document.
///
/// A value is made for one request and holds the snapshot that it reads.
package struct OpenAPIRealm {
    /// The name of the realm, as the paths have it.
    private let realm: String
    /// The version whose classes are described.
    private let snapshot: Snapshot
    /// The form of integers in the responses that are described.
    private let ints: OpenAPIDocument.Integers
    /// The largest number of objects on a page.
    private let pageLimit: Int
    /// The values that creates take for properties they leave out.
    private let defaults: ClassDefaults
    /// The name of the schema of each class, distinct from each other and from the shared schemas.
    private let identifiers: [TableKey: String]

    /// Prepares the description of a realm.
    ///
    /// - Parameters:
    ///   - realm: The name of the realm.
    ///   - snapshot: The version whose classes are described.
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server, of which the description states the largest page.
    ///   - defaults: The values that creates take for properties they leave out.
    /// - Complexity: O(n) in the number of classes, unless many names are mapped to the same
    ///   identifier.
    package init(
        realm: String, snapshot: Snapshot, ints: OpenAPIDocument.Integers = .number, limits: Limits = Limits(),
        defaults: ClassDefaults = .none
    ) {
        self.realm = realm
        self.ints = ints
        pageLimit = limits.page
        self.defaults = defaults
        self.snapshot = snapshot
        identifiers = OpenAPIRealm.identifiers(of: snapshot)
    }

    /// Returns the whole document as one value in memory.
    ///
    /// - Parameter version: The version of this program, shown as the version of the interface.
    /// - Returns: The same document that `write` writes. For large schemas `write` needs far less
    ///   memory.
    package func document(version: String) -> DocumentValue { document(version: version, ofClasses: snapshot.classes) }

    /// Returns a document with the operations and schemas of some classes only.
    ///
    /// - Parameters:
    ///   - version: The version of this program.
    ///   - classes: The classes to describe; none for the frame that `write` fills class by
    ///     class.
    private func document(version: String, ofClasses classes: [Table]) -> DocumentValue {
        [
            "openapi": "3.0.3",
            "info": ["title": .string(realm), "version": .string(version), "description": "Describes the classes of one realm."],
            "servers": [["url": "/"]],
            "paths": .object(classes.flatMap(paths)),
            "components": OpenAPIDocument.components(ints, pageLimit: pageLimit, adding: classes.flatMap(schemas)),
        ]
    }

    /// Writes the document as JSON, class by class, so that no more than one class is in memory
    /// besides the text.
    ///
    /// - Parameters:
    ///   - version: The version of this program, shown as the version of the interface.
    ///   - buffer: The buffer that the text is appended to.
    ///   - budget: The work that the request may do; each class is charged by the number of its
    ///     properties.
    /// - Throws: `StorageError` when the budget is used up, or when the text is longer than a
    ///   response may be.
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
        // The schemas are the last part of the components; those of the classes follow them.
        buffer.append(String((head["components"] ?? .object([])).json.dropLast(2)))
        separator = ","
        for table in snapshot.classes {
            for (name, value) in schemas(table) { OpenAPIRealm.append(name, value, separator: &separator, to: buffer) }
            try budget.spend(table.columns.count * OpenAPIRealm.unitsPerColumn)
            try budget.requireRoom(for: buffer.count)
        }
        buffer.append("}}}" as StaticString)
    }

    /// The units of work that one property is charged with: it becomes about a dozen small JSON
    /// values.
    private static let unitsPerColumn = 64

    /// Writes one member of an object, with a comma before all but the first.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - value: Its value.
    ///   - separator: What is written before the member; a comma afterwards.
    ///   - buffer: The buffer that the text is appended to.
    private static func append(_ name: String, _ value: DocumentValue, separator: inout String, to buffer: OutputBuffer) {
        buffer.append(separator)
        separator = ","
        buffer.append(jsonString: name)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(value.json)
    }

    // MARK: - Names

    /// Chooses an identifier for each class.
    ///
    /// Where a name, or one of the names derived from it, is in use already, a number from 2 on is
    /// appended. Classes are named in the order of the schema, so the same schema always has the
    /// same identifiers.
    ///
    /// - Parameter snapshot: The version with the classes.
    /// - Returns: The identifiers by the key of the class's table.
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

    /// The suffixes that the name of a class has in the names of its other schemas.
    private static let derived = ["Page", "Create", "Patch", "Changes"]

    /// Returns a name in which everything but ASCII letters and digits is replaced by an
    /// underscore.
    ///
    /// A result that would begin with a digit, or would be empty, begins with `C`.
    private static func identifier(_ name: String) -> String {
        let letters = name.unicodeScalars.map { scalar -> Character in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain ? Character(scalar) : "_"
        }
        let text = String(letters)
        return text.first?.isNumber ?? true ? "C" + text : text
    }

    /// Returns the name of the schema of a class in the description, as `identifiers(of:)` has chosen
    /// it.
    private func identifier(_ table: Table) -> String { identifiers[table.key] ?? "Object" }

    // MARK: - Operations

    /// Returns the two paths of a class with their operations: that of its objects, and that of a
    /// single object.
    ///
    /// Objects of embedded classes are changed through their owners, so these classes have reads
    /// only.
    private func paths(_ table: Table) -> [DocumentValue.Member] {
        let name = identifier(table)
        let path = "/v1/realms/\(realm)/objects/\(PercentDecoding.encode(table.className ?? ""))"
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

    /// Returns one path with its operations.
    ///
    /// - Parameters:
    ///   - path: The path, with variables in braces.
    ///   - operations: The names of methods in lower case, with the operations.
    ///   - variables: The variables of the path that are parameters. The realm and the class are
    ///     fixed words here.
    private func member(
        _ path: String, _ operations: [(String, OperationDescription)], variables: [PathVariable]
    ) -> DocumentValue.Member {
        .init(path, .object(operations.map { DocumentValue.Member($0, $1.document(variables: variables)) }))
    }

    // MARK: - Schemas

    /// Returns the schemas of a class with their names: for reading an object and a page, and for
    /// classes with objects of their own also for changes, creating and patching.
    private func schemas(_ table: Table) -> [(String, DocumentValue)] {
        let name = identifier(table)
        let read = [(name, schema(table)), ("\(name)Page", OpenAPISchemas.objectPage(of: OpenAPIParts.schema(name), ints))]
        guard table.kind != .embedded else { return read }
        let changes = ("\(name)Changes", OpenAPIChanges.changes(of: OpenAPIParts.schema(name), ints))
        return read + [changes, ("\(name)Create", input(table, requires: true)), ("\(name)Patch", input(table, requires: false))]
    }

    /// Returns the schema of what a client may send for an object.
    ///
    /// Required for a new object are single-valued properties that cannot be null, except those with a
    /// default and a primary key that the server can generate (objectId or uuid). A nullable primary key is required too:
    /// null has to be given explicitly.
    ///
    /// - Parameters:
    ///   - table: The class.
    ///   - requires: Whether required members and defaults are stated; false for patches, which take
    ///     none.
    private func input(_ table: Table, requires: Bool) -> DocumentValue {
        let required = table.columns.filter { column in
            let isMadeUp = column.leafIndex == table.primaryKey?.leafIndex && [.objectID, .uuid].contains(column.type)
            let isNullKey = column.leafIndex == table.primaryKey?.leafIndex && column.isNullable
            return column.collection == nil && (!column.isNullable || isNullKey) && !isMadeUp
                && defaults.text(of: column.name, in: table.className ?? "") == nil
        }.map { MemberNaming.documents.member($0.name) }
        let properties = table.columns.map { column in
            let name = MemberNaming.documents.member(column.name)
            guard requires, let text = defaults.text(of: column.name, in: table.className ?? "") else {
                return DocumentValue.Member(name, property(column))
            }
            return DocumentValue.Member(name, property(column).adding([.init("default", .json(text))]))
        }
        return .members(
            ("type", "object"), ("required", requires && !required.isEmpty ? .array(required.map { .string($0) }) : nil),
            ("properties", .object(properties)))
    }

    /// Returns the schema of an object as reads show it.
    ///
    /// No property is required, because the parameter `fields` can leave any of them out.
    private func schema(_ table: Table) -> DocumentValue {
        var properties: [DocumentValue.Member] = []
        if table.kind != .embedded { properties.append(.init("$meta", OpenAPIParts.schema("Meta"))) }
        for column in table.columns {
            properties.append(.init(MemberNaming.documents.member(column.name), property(column)))
        }
        return .members(
            ("type", "object"),
            ("x-realm-name", identifier(table) == table.className ? nil : .string(table.className ?? "")),
            ("properties", .object(properties)), ("additionalProperties", true))
    }

    /// Returns the schema of a property: that of its element, or an array or object of them for a
    /// collection.
    private func property(_ column: Column) -> DocumentValue {
        let element = element(column)
        switch column.collection {
        case nil: return element
        case .dictionary: return ["type": "object", "additionalProperties": element]
        case .list, .set: return ["type": "array", "items": element]
        }
    }

    /// Returns the schema of a single value or of one element of a collection, nullable where the
    /// property is.
    ///
    /// Mixed needs no mark: its schema is empty and permits null anyway.
    private func element(_ column: Column) -> DocumentValue {
        let nullable = DocumentValue.Member("nullable", true)
        let base = scalar(column)
        return column.isNullable && column.type != .mixed ? base.adding([nullable]) : base
    }

    /// Returns the schema of a value that is not null, for the JSON form with the chosen form of
    /// integers.
    ///
    /// Float and double are open, because NaN and the infinities are written as strings. Mixed is
    /// open by nature.
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
