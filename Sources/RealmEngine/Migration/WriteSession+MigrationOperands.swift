// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Finds what the key paths of expressions stand for, in the present state and in that before the
/// migration. Keys of tables and objects are the same in both.
extension WriteSession {
    /// Returns what a key path stands for.
    ///
    /// A null on the way makes the result null, and so does `$old` of an object that did not exist.
    ///
    /// - Parameters:
    ///   - path: The names: perhaps a variable first, then properties and `$old`.
    ///   - bindings: What variables stand for.
    /// - Returns: The value, copied so that it remains valid when the object is changed.
    /// - Throws: `WriteError` with the code `invalidSchema` for a property that the class does not have,
    ///   for a step that begins at no object, and for an object that has been deleted.
    func operand(_ path: [String], _ bindings: MigrationBindings) throws(WriteError) -> MigrationOperand {
        var rest = path[...]
        var current: MigrationOperand
        if let name = path.first, let variable = bindings.variables[name] {
            current = variable
            rest = rest.dropFirst()
            if case .object(let place, .present) = variable, rest.first != MigrationScope.past { try requireObject(place, name) }
        } else if let subject = bindings.subject {
            current = .object(subject, .present)
        } else {
            throw WriteError(.invalidSchema, "there is no variable '\(path.first ?? "")'")
        }
        for name in rest {
            switch current {
            case .object(let place, _) where name == MigrationScope.past: current = try past(place)
            case .object(let place, .present): current = try present(name, of: place)
            case .object(let place, .past): current = try past(name, of: place)
            case .value(let held) where held.value.isNull: return current
            case .value, .collection:
                throw WriteError(.invalidSchema, "'\(name)' is looked for in something that is no object")
            }
        }
        return current
    }

    /// Throws `invalidSchema` when the object of a variable has been deleted.
    func requireObject(_ place: ObjectPlace, _ variable: String) throws(WriteError) {
        guard try isThere(place) else {
            throw WriteError(.invalidSchema, "the object '\(variable)' has been deleted by an earlier step")
        }
    }

    /// Returns an object as it was before the migration; null when it did not exist.
    private func past(_ place: ObjectPlace) throws(WriteError) -> MigrationOperand {
        guard let table = migrationWork.past?.table(place.table), try stored(try table.find(place.object)) != nil else {
            return .null
        }
        return .object(place, .past)
    }

    /// Returns the present value of a property.
    private func present(_ name: String, of place: ObjectPlace) throws(WriteError) -> MigrationOperand {
        let table = try table(place.table)
        guard let column = table.column(named: name) else { throw WriteSession.noProperty(name, table.className) }
        let collection = CollectionPlace(place.table, place.object, column)
        switch column.collection {
        case nil: return try operand(of: try stored(try transaction.value(column, of: place.object, in: place.table)), .present)
        case .dictionary?: return try entries(of: try dictionary(collection), .present)
        case .list?, .set?: return try elements(of: try list(collection), .present)
        }
    }

    /// Returns the value that a property had before the migration.
    private func past(_ name: String, of place: ObjectPlace) throws(WriteError) -> MigrationOperand {
        guard let past = migrationWork.past, let table = past.table(place.table),
            let row = try stored(try table.find(place.object))
        else { return .null }
        guard let column = table.column(named: name) else { throw WriteSession.noProperty(name, table.className ?? "") }
        switch column.collection {
        case nil: return try operand(of: try stored(try row.value(column)), .past)
        case .dictionary?: return try entries(of: try stored(try row.dictionary(column, in: past)), .past)
        case .list?, .set?: return try elements(of: try stored(try row.list(column, in: past)), .past)
        }
    }

    /// Makes the error for a key path with a property that the class does not have.
    private static func noProperty(_ name: String, _ className: String) -> WriteError {
        WriteError(.invalidSchema, "class '\(className)' has no property '\(name)'")
    }

    // MARK: - Values

    /// Returns a stored value as an operand: links lead to objects, and lists and dictionaries in mixed
    /// values are read.
    private func operand(of value: Value, _ state: MigrationOperand.State) throws(WriteError) -> MigrationOperand {
        let space = state == .past ? migrationWork.past?.space : nil
        switch value {
        // A link to an object that is not shown leads nowhere, and cannot be written.
        case .link(let table, let object) where isShown(table):
            return .object(ObjectPlace(table: table, object: object), state)
        case .list(let root):
            return try elements(of: try stored(try ListView(nested: root, space: space ?? transaction.writes.space)), state)
        case .dictionary(let root):
            return try entries(
                of: try stored(try DictionaryView(root: root, space: space ?? transaction.writes.space)), state)
        default:
            let held = OwnedValue(copying: value)
            try countComputed(held.byteCount)
            return .value(held)
        }
    }

    /// Returns the elements of a list or set.
    private func elements(of list: ListView, _ state: MigrationOperand.State) throws(WriteError) -> MigrationOperand {
        var elements: [MigrationOperand.Element] = []
        var cursor = list.elements()
        while let value = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            try countComputed()
            elements.append(
                MigrationOperand.Element(key: OwnedValue(.int(Int64(elements.count))), value: try operand(of: value, state)))
        }
        return .collection(elements, isDictionary: false)
    }

    /// Returns the entries of a dictionary.
    private func entries(of dictionary: DictionaryView, _ state: MigrationOperand.State) throws(WriteError) -> MigrationOperand {
        var entries: [MigrationOperand.Element] = []
        var cursor = dictionary.entries()
        while let entry = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            try countComputed(entry.key.bytes.count)
            entries.append(
                MigrationOperand.Element(key: .string(entry.key.bytes.array), value: try operand(of: entry.value, state)))
        }
        return .collection(entries, isDictionary: true)
    }

    /// Counts memory for a value that is computed for the present object, as one object could otherwise
    /// have values that are made of each other any number of times.
    ///
    /// - Parameter byteCount: The bytes of a string or of data.
    /// - Throws: `WriteError` with the code `tooManyAffected` when they take more than a write may take.
    func countComputed(_ byteCount: Int = 0) throws(WriteError) {
        migrationWork.computedBytes += byteCount + MemoryLayout<MigrationOperand.Element>.stride
        guard migrationWork.computedBytes <= byteLimit else { throw tooMuch }
    }
}
