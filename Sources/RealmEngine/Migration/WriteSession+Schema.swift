// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Creates classes and properties in the order in which the SDKs create them.
extension WriteSession {
    /// Returns the schema as this write has changed it so far.
    package func schema() throws(WriteError) -> RealmSchema { RealmSchema(try view()) }

    /// Creates the classes of a new realm.
    ///
    /// First the schema version is set, then all tables are created in byte order of the class names, then their properties.
    /// Another order would work as well, but then the files would differ from those of the SDKs.
    ///
    /// - Parameters:
    ///   - versionIfMissing: The schema version for an input without one; nil leaves the version of the
    ///     file unchanged.
    /// - Throws: `WriteError` with the code `invalidSchema`.
    package func createSchema(_ input: SchemaInput, versionIfMissing: UInt64? = 0) throws(WriteError) {
        try requireAllRights()
        let classes = try SchemaValidator.classes(input)
        if let version = input.version ?? versionIfMissing { try stored(try changing.setSchemaVersion(version)) }
        try add(classes)
    }

    /// Makes the schema of the file fit `input` by additions alone: new classes, new properties and new indexes.
    ///
    /// Classes that `input` does not name remain.
    ///
    /// - Parameter input: The schema that the file shall have.
    /// - Throws: `WriteError`: `schemaVersionConflict` when additions are not enough or the file has a
    ///   newer schema version, `invalidSchema` for an invalid input.
    package func fitSchema(_ input: SchemaInput) throws(WriteError) {
        let present = try schema()
        let classes = try SchemaValidator.classes(input)
        if let wanted = input.version, let version = present.version, wanted < version {
            throw WriteSession.conflict("the file has schema version \(version), which is newer than \(wanted)")
        }
        for wanted in classes {
            guard let one = present[wanted.name] else { continue }
            try requireFit(wanted, one)
        }
        if present.version == nil || input.version.map({ $0 != present.version }) ?? false {
            try stored(try changing.setSchemaVersion(input.version ?? present.version ?? 0))
        }
        try add(classes.filter { present[$0.name] == nil })
        for wanted in classes {
            guard let one = present[wanted.name] else { continue }
            try addMissing(wanted, to: one)
        }
    }

    /// Removes all classes with their objects, and creates those of `input`.
    ///
    /// - Parameter input: The new schema; without a version it gets version 0.
    /// - Throws: `WriteError` with the code `invalidSchema` before anything is removed.
    package func recreateSchema(_ input: SchemaInput) throws(WriteError) {
        let classes = try SchemaValidator.classes(input)
        try requireAllClasses()
        let tables = try view().classes
        for table in tables { try stored(try changing.deleteAllObjects(in: table.key)) }
        // Links first, so that no table is a target when it goes.
        for table in tables {
            for column in table.columns where column.type == .link {
                try stored(try changing.removeColumn(column.key, of: table.key))
            }
        }
        for table in tables { try stored(try changing.removeTable(table.key)) }
        try stored(try changing.setSchemaVersion(input.version ?? 0))
        try add(classes)
    }

    /// Makes the error for a schema that additions alone cannot reach.
    private static func conflict(_ detail: String) -> WriteError { WriteError(.schemaVersionConflict, detail) }

    /// Checks that additions alone can turn an existing class into the wanted one.
    ///
    /// - Parameters:
    ///   - wanted: The class of the input.
    ///   - one: The class of the file.
    /// - Throws: `WriteError` with the code `schemaVersionConflict` otherwise.
    private func requireFit(_ wanted: ClassSchema, _ one: ClassSchema) throws(WriteError) {
        guard wanted.kind == one.kind, wanted.primaryKey == one.primaryKey else {
            throw WriteSession.conflict("class '\(one.name)' has another type or primary key in the file")
        }
        for property in one.properties where !property.leadsOut {
            guard let match = wanted.properties.first(where: { $0.name == property.name }) else {
                throw WriteSession.conflict("the file has a property '\(one.name).\(property.name)' that the schema lacks")
            }
            guard match.indexed(nil) == property.indexed(nil) else {
                throw WriteSession.conflict("the property '\(one.name).\(property.name)' is different in the file")
            }
            guard match.index == nil || property.index == nil || match.index == property.index else {
                throw WriteSession.conflict("the property '\(one.name).\(property.name)' has another index in the file")
            }
        }
    }

    /// Adds the properties and indexes that an existing class lacks.
    private func addMissing(_ wanted: ClassSchema, to one: ClassSchema) throws(WriteError) {
        let table = try table(class: one.name)
        for property in wanted.properties {
            guard let known = one.properties.first(where: { $0.name == property.name }) else {
                try addColumn(property, to: table.key)
                continue
            }
            if let index = property.index, known.index == nil, let column = table.column(named: property.name) {
                try stored(try changing.addIndex(index, to: column.key, of: table.key))
            }
        }
    }

    // MARK: - Making

    /// Creates classes that do not exist yet: first all tables, then their properties, so that links may lead to any of them.
    ///
    /// - Parameter classes: The checked classes, in any order; they are created in byte order of their
    ///   names.
    func add(_ classes: [ClassSchema]) throws(WriteError) {
        if !classes.isEmpty { try requireAllClasses() }
        let sorted = classes.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
        var keys: [TableKey] = []
        for one in sorted { keys.append(try addTable(one)) }
        for (one, key) in zip(sorted, keys) {
            for property in one.properties where property.name != one.primaryKey { try addColumn(property, to: key) }
        }
    }

    /// Creates a table with its primary key, which is always the first column, whatever its place among the properties.
    private func addTable(_ one: ClassSchema) throws(WriteError) -> TableKey {
        try checkDeadline()
        try requireRoom(for: one)
        let key = try stored(try changing.createTable(Table.classPrefix + one.name, kind: one.kind))
        if let property = one.properties.first(where: { $0.name == one.primaryKey }) {
            let column = try addColumn(property.indexed(nil), to: key)
            try stored(try changing.setPrimaryKey(column, of: key))
        }
        return key
    }

    /// Checks that the file has room for another class with these properties.
    ///
    /// Only additions are checked: a file that already exceeds a limit can still be opened.
    private func requireRoom(for one: ClassSchema) throws(WriteError) {
        let besides = WriteSession.otherTables + (try stored(try hasIdentifierMark()) ? 1 : 0)
        guard transaction.tableCount() < limits.classes + besides else {
            throw WriteSession.tooLarge("a realm has at most \(limits.classes) classes", limits.classes)
        }
        guard one.properties.count <= limits.properties else {
            throw WriteSession.tooLarge("class '\(one.name)' has more than \(limits.properties) properties", limits.properties)
        }
    }

    /// The number of tables that are not classes in every file: the one that holds the schema version.
    private static let otherTables = 1

    /// Makes the error for a schema with too many classes or properties, with the limit that was exceeded.
    private static func tooLarge(_ detail: String, _ limit: Int) -> WriteError {
        var error = WriteError(.invalidSchema, detail)
        error.limit = limit
        return error
    }

    /// Adds a property to a table. The clock is checked every 16 properties, because a schema may have very many.
    ///
    /// - Parameters:
    ///   - property: The checked property.
    /// - Returns: The key of the new column.
    /// - Throws: `WriteError`: `invalidSchema` for too many properties, or the error of an expired
    ///   deadline.
    @discardableResult
    func addColumn(_ property: PropertySchema, to key: TableKey) throws(WriteError) -> ColumnKey {
        if schemaSteps & 0xf == 0xf { try checkDeadline() }
        schemaSteps &+= 1
        try requireOwn(key)
        guard try stored(try transaction.columnCount(of: key)) < limits.properties else {
            throw WriteSession.tooLarge("a class has at most \(limits.properties) properties", limits.properties)
        }
        var target: TableKey?
        if let name = property.objectType { target = try table(class: name).key }
        try markIdentifiers(before: property.type)
        let definition = ColumnDefinition(
            property.name, property.type.columnType, isNullable: property.isOptional, collection: property.collection,
            target: target, index: property.index)
        return try stored(try changing.addColumn(definition, to: key))
    }
}

extension PropertyType {
    /// The type of column that stores values of this property type.
    package var columnType: ColumnType {
        switch self {
        case .int: return .int
        case .bool: return .bool
        case .string: return .string
        case .data: return .binary
        case .date: return .timestamp
        case .float: return .float
        case .double: return .double
        case .decimal128: return .decimal
        case .objectId: return .objectID
        case .uuid: return .uuid
        case .mixed: return .mixed
        case .object: return .link
        }
    }
}

/// The mark by which the .NET SDK recognizes files whose UUIDs are in the order of their bytes.
///
/// Its early versions stored the first three parts of a UUID with their bytes reversed. When it opens a file without the mark in which
/// one UUID looks reversed, it reverses all of them. Of UUIDs of version 7 each 16th does. The mark is an empty table.
extension WriteSession {
    /// The name of the table that is the mark.
    static let identifierMark = "dotnet_guid_representation_fixed"

    /// Marks the file before the first property that may hold UUIDs is added to it. A file that has such properties is left as it is,
    /// because its UUIDs may be those of an early app.
    ///
    /// - Parameter type: The type of the property that is added.
    func markIdentifiers(before type: PropertyType) throws(WriteError) {
        guard type == .uuid || type == .mixed, try !stored(try hasIdentifierMark()) else { return }
        let mayHaveSome = transaction.base.tables.contains { table in
            table.columns.contains { $0.type == .uuid || $0.type == .mixed }
        }
        guard !mayHaveSome else { return }
        _ = try stored(try changing.createTable(WriteSession.identifierMark))
    }

    /// Returns whether the file has the mark.
    func hasIdentifierMark() throws(StorageError) -> Bool { try transaction.table(named: WriteSession.identifierMark) != nil }
}
