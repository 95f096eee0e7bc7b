// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The migration steps that change a single property.
extension WriteSession {
    /// Adds a property to a class, and writes a value to it in all existing objects.
    ///
    /// - Parameters:
    ///   - value: The value for existing objects; nil leaves them with the default value of the type.
    /// - Throws: `WriteError` with the code `invalidSchema` for an invalid property or a name that is
    ///   already used, and the errors of writing the value.
    func addProperty(_ className: String, _ input: PropertyInput, _ value: InputValue?) throws(WriteError) {
        let table = try migrating(className)
        let property = try at(.name("property"), try SchemaValidator.validatedSchema(of: input))
        if table.kind == .embedded, property.index != nil {
            throw WriteError(
                .invalidSchema, SchemaValidator.embeddedIndex, path: InputPath([.name("property"), .name("indexed")]))
        }
        guard table.column(named: property.name) == nil else {
            throw WriteError(
                .invalidSchema, "a property of this name exists already", path: InputPath([.name("property"), .name("name")]))
        }
        if let target = property.objectType { try at(.name("property"), try requireTarget(target, property)) }
        try addColumn(property, to: table.key)
        try requireValidSchema()
        guard let value else { return }
        let changed = try self.table(table.key)
        guard let column = changed.column(named: property.name) else { return }
        let objects = try objects(of: table.key)
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            try spend(WriteSession.unitsPerElement)
            let place = ObjectPlace(table: table.key, object: object)
            try at(.name("value"), try write(value, to: column, of: place, .update, Options()))
        }
    }

    /// Checks that the class that new links lead to exists, and that a set does not contain embedded objects.
    private func requireTarget(_ name: String, _ property: PropertySchema) throws(WriteError) {
        guard let target = try classTable(named: name) else {
            throw WriteSession.invalid("there is no class '\(name)'", "objectType")
        }
        guard target.kind != .embedded || property.collection != .set else {
            throw WriteSession.invalid("there are no sets of embedded objects", "collection")
        }
    }

    /// Removes a property with its values.
    ///
    /// - Parameters:
    ///   - losing: Whether data may be lost.
    /// - Throws: `WriteError` with the code `wouldLoseData` when objects have values that are not null or
    ///   empty and the loss is not allowed.
    func removeProperty(_ className: String, _ name: String, _ losing: Bool) throws(WriteError) {
        let table = try migrating(className)
        let column = try property(name, of: table)
        try requireLoss(of: [(name: "values", count: try valueCount(column, of: table.key))], losing)
        try stored(try changing.removeColumn(column.key, of: table.key))
    }

    /// Counts the objects whose value of a property is not null, or whose collection is not empty.
    ///
    /// - Complexity: Linear in the number of objects.
    private func valueCount(_ column: Column, of key: TableKey) throws(WriteError) -> Int {
        var count = 0
        for object in try objects(of: key) {
            try spend(WriteSession.unitsPerElement)
            if column.collection == nil {
                if try !stored(try transaction.value(column, of: object, in: key)).isNull { count += 1 }
            } else if try elementCount(CollectionPlace(key, object, column)) > 0 {
                count += 1
            }
        }
        return count
    }

    /// Gives a property another name; its values and its index remain.
    ///
    /// - Parameters:
    ///   - name: The present name.
    ///   - new: The new name, which no other property of the class may have.
    /// - Throws: `WriteError` with the code `invalidSchema` and the path `to` when the name is invalid or
    ///   already used.
    func renameProperty(_ className: String, _ name: String, to new: String) throws(WriteError) {
        let table = try migrating(className)
        let column = try property(name, of: table)
        do throws(WriteError) {
            try SchemaValidator.checkName(new, SchemaValidator.maximumNameByteCount, "property")
        } catch {
            throw WriteSession.invalid(error.detail, "to")
        }
        guard new == name || table.column(named: new) == nil else {
            throw WriteSession.invalid("a property of this name exists already", "to")
        }
        try stored(try changing.renameColumn(column.key, of: table.key, to: new))
    }

    // MARK: - Keys and indexes

    /// Makes a property the primary key of a class, or removes the primary key.
    ///
    /// - Parameters:
    ///   - className: The class, which must not be embedded.
    ///   - name: The property; nil removes the primary key.
    /// - Throws: `WriteError`: `duplicateKey` when two objects have the same value, `invalidSchema` when
    ///   the property cannot be a primary key.
    func setPrimaryKey(_ className: String, _ name: String?) throws(WriteError) {
        let table = try migrating(className)
        guard let name else { return try stored(try changing.setPrimaryKey(nil, of: table.key)) }
        guard table.kind != .embedded else { throw WriteSession.invalid("an embedded class has no primary key", "class") }
        let column = try property(name, of: table)
        do throws(WriteError) {
            try SchemaValidator.requireKeyType(
                PropertySchema(
                    name: name, type: PropertyType(column.type), collection: column.collection, isOptional: column.isNullable,
                    index: column.declaredIndex, objectType: nil))
        } catch {
            throw WriteSession.invalid(error.detail, "name")
        }
        try requireDistinct(column, of: table.key)
        try stored(try changing.setPrimaryKey(column.key, of: table.key))
    }

    /// Checks that no two objects have the same value in a column.
    ///
    /// - Throws: `WriteError` with the code `duplicateKey` otherwise.
    /// - Complexity: O(n log n) comparisons for n objects; all values are held in memory.
    private func requireDistinct(_ column: Column, of key: TableKey) throws(WriteError) {
        // Nothing changes meanwhile, so the values may stay where they are.
        var values: [Value] = []
        for object in try objects(of: key) {
            try spend(WriteSession.unitsPerElement)
            values.append(try stored(try transaction.value(column, of: object, in: key)))
        }
        values.sort { [budget] left, right in
            budget.allows(WorkBudget.units(forBytes: left.byteCount)) && Value.order(left, right) < 0
        }
        try checkDeadline()
        for (left, right) in zip(values, values.dropFirst()) where Value.order(left, right) == 0 {
            var error = WriteError(.duplicateKey, "several objects have the same value in '\(column.name)'")
            error.path = InputPath([.name("name")])
            throw error
        }
    }

    /// Adds, changes or removes the search index of a property.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - indexed: `general`, `fulltext`, or nil to remove the index.
    /// - Throws: `WriteError` with the code `invalidSchema` when the property cannot have such an index.
    func setIndex(_ className: String, _ name: String, _ indexed: String?) throws(WriteError) {
        let table = try migrating(className)
        let column = try property(name, of: table)
        let index = try SchemaValidator.index(named: indexed)
        if let index {
            guard table.kind != .embedded else { throw WriteSession.invalid(SchemaValidator.embeddedIndex, "indexed") }
            try at(.name("indexed"), try SchemaValidator.requireIndexable(PropertyType(column.type), column.collection, index))
            guard index == .general || column.leafIndex != table.primaryKey?.leafIndex else {
                throw WriteSession.invalid("a primary key has no full-text index", "indexed")
            }
        }
        guard index != column.declaredIndex || index != nil && !column.hasSearchIndex else { return }
        if column.declaredIndex != nil { try stored(try changing.removeIndex(of: column.key, in: table.key)) }
        if let index { try stored(try changing.addIndex(index, to: column.key, of: table.key)) }
    }

    // MARK: - Types

    /// Changes the type, the nullability or the kind of collection of a property.
    ///
    /// It adds a new column under a temporary name, moves the values, removes the old column and renames
    /// the new one. An index remains where the new type allows it.
    ///
    /// - Parameters:
    ///   - change: The class, the property and what changes.
    ///   - losing: Whether nulls, and elements of sets that become equal, may be lost.
    /// - Throws: `WriteError`: `invalidSchema` for a change that is not possible, `typeMismatch` for a
    ///   value that cannot be converted, `wouldLoseData` for lost nulls and elements, `duplicateKey` for a
    ///   primary key whose values become equal.
    func changeProperty(_ change: PropertyChange, _ losing: Bool) throws(WriteError) {
        let table = try migrating(change.className)
        let column = try property(change.name, of: table)
        let conversion = try PropertyConversion(change)
        let property = try changed(column, change, conversion)
        guard
            property.type != PropertyType(column.type) || property.isOptional != column.isNullable
                || property.collection != column.collection
        else { return }
        let isKey = column.leafIndex == table.primaryKey?.leafIndex
        if isKey {
            do throws(WriteError) { try SchemaValidator.requireKeyType(property) } catch {
                throw WriteSession.invalid(error.detail, change.type == nil ? "conversion" : "type")
            }
        }
        let temporary = try unusedName(in: table)
        try addColumn(property.indexed(nil).named(temporary), to: table.key)
        guard let new = try self.table(table.key).column(named: temporary) else { return }
        try move(
            ColumnMover(source: column, target: new, conversion: conversion, nullValue: change.nullValue, table: table.key),
            losing)
        if isKey {
            try requireDistinct(new, of: table.key)
            try stored(try changing.setPrimaryKey(new.key, of: table.key))
        }
        try stored(try changing.removeColumn(column.key, of: table.key))
        try stored(try changing.renameColumn(new.key, of: table.key, to: change.name))
        if let index = property.index, !isKey { try stored(try changing.addIndex(index, to: new.key, of: table.key)) }
    }

    /// Returns a name that no property of the class has, for the column that exists during a change of type.
    private func unusedName(in table: TableState) throws(WriteError) -> String {
        var number = 0
        while table.column(named: "migrating \(number)") != nil { number += 1 }
        return "migrating \(number)"
    }

    /// Returns the property as it will be.
    ///
    /// - Parameters:
    ///   - column: The present column.
    ///   - change: The requested change.
    /// - Throws: `WriteError` with the code `invalidSchema` when a type is unknown, the conversion does not
    ///   fit, or `onFailure` writes nulls that the property cannot have.
    private func changed(
        _ column: Column, _ change: PropertyChange, _ conversion: PropertyConversion
    ) throws(WriteError) -> PropertySchema {
        if let target = column.targetTable, !isShown(target) {
            throw WriteSession.invalid("'\(column.name)' leads to objects that this realm does not show", "name")
        }
        let type = try conversion.type(of: column, wanted: change.type)
        let isEmbedded = try column.targetTable.map { key throws(WriteError) in try table(key).kind == .embedded } ?? false
        if type != PropertyType(column.type), isEmbedded {
            throw WriteSession.invalid("the type of a property with embedded objects cannot be changed", "type")
        }
        let kind = try conversion.collection(of: column)
        guard kind != .set || !isEmbedded else {
            throw WriteSession.invalid("there are no sets of embedded objects", "conversion")
        }
        let isOptional: Bool? = type == .mixed || type == .object ? change.optional : change.optional ?? column.isNullable
        let target = try type == .object ? column.targetTable.map { key throws(WriteError) in try table(key).className } : nil
        let property = try SchemaValidator.validatedSchema(
            of: PropertyInput(change.name, type.rawValue, collection: kind?.name, optional: isOptional, objectType: target))
        guard change.onFailure != .null || property.isOptional else {
            throw WriteSession.invalid("'null' needs 'optional': true, as the property is required", "onFailure")
        }
        var index = column.declaredIndex
        if let kept = index {
            do throws(WriteError) { try SchemaValidator.requireIndexable(type, kind, kept) } catch { index = nil }
        }
        return property.indexed(index)
    }

    /// Returns the keys of all objects of a class, in the order of the keys.
    ///
    /// - Complexity: Linear in the number of objects; the clock is checked once for each leaf.
    func objects(of key: TableKey) throws(WriteError) -> [ObjectKey] {
        var objects: [ObjectKey] = []
        guard let table = try view().table(key) else { return [] }
        var cursor = table.leaves()
        while let leaf = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            for row in 0..<leaf.count { objects.append(leaf.key(at: row)) }
        }
        return objects
    }
}
