// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Evaluates key paths of expressions, in the present state and in that before the migration. Keys of tables and objects are the
/// same in both.
extension WriteSession {
    /// Returns the value at a key path.
    ///
    /// A null on the way makes the result null, and so does `$old` of an object that did not exist.
    ///
    /// - Parameters:
    ///   - path: Perhaps a variable first, then properties, `$old`, and steps into collections.
    ///   - bindings: The values of variables.
    /// - Returns: The value, copied so that it remains valid when the object is changed.
    /// - Throws: `WriteError` with the code `invalidSchema` for a property that the class does not have,
    ///   for a step into something that does not have it, and for an object that has been deleted.
    func operand(_ path: ExpressionPath, _ bindings: MigrationOperand.Bindings) throws(WriteError) -> MigrationOperand {
        var rest = path.steps[...]
        var current: MigrationOperand
        if let name = path.firstName, let variable = bindings.variables[name] {
            current = variable
            rest = rest.dropFirst()
            if case .object(let place, .present) = variable, rest.first.map({ !$0.isPast }) ?? true {
                try requireObject(place, name)
            }
        } else if let subject = bindings.subject {
            current = .object(subject, .present)
        } else {
            throw WriteError(.invalidSchema, "there is no variable '\(path.firstName ?? path.text)'")
        }
        for step in rest { current = try follow(step, from: current) }
        return current
    }

    /// Returns what one step of a key path leads to; null leads to null.
    private func follow(_ step: ExpressionPath.Step, from operand: MigrationOperand) throws(WriteError) -> MigrationOperand {
        switch (step, operand) {
        case (_, .value(let held)) where held.value.isNull: return operand
        case (.name(MigrationScope.past), .object(let place, _)): return try pastObject(at: place)
        case (.name(let name), .object(let place, let state)): return try self.operand(named: name, of: place, state)
        case (.links(let className, let property), .object(let place, let state)):
            return try linking(className, property, to: place, state)
        case (.name(let key), .collection(let entries, true)) where key != MigrationScope.past:
            return try entry(key, of: entries)
        case (.key(let key), .collection(let entries, true)): return try entry(key, of: entries)
        case (.index(let index), .collection(let elements, false)):
            return elements.indices.contains(index) ? elements[index].value : .null
        case (.last, .collection(let elements, false)): return elements.last?.value ?? .null
        case (.count, .collection(let elements, _)): return .value(OwnedValue(.int(Int64(elements.count))))
        case (.values, .collection(_, true)): return operand
        case (.keys, .collection(let entries, true)):
            let keys = entries.enumerated().map { index, entry in
                MigrationOperand.Element(key: OwnedValue(.int(Int64(index))), value: .value(entry.key))
            }
            return .collection(keys, isDictionary: false)
        case (.fold(let fold, let property), .collection(let elements, _)):
            return .value(try self.fold(fold, try values(of: elements, property, step)))
        case (.name, _): throw WriteError(.invalidSchema, "'\(step.text)' needs an object before it")
        default: throw WriteError(.invalidSchema, "'\(step.text)' cannot follow the path before it")
        }
    }

    /// Returns the value of an entry of a dictionary; null when there is none.
    private func entry(_ key: String, of entries: [MigrationOperand.Element]) throws(WriteError) -> MigrationOperand {
        let wanted = Array(key.utf8)
        for entry in entries {
            try spend(bytes: entry.key.byteCount)
            let isWanted = entry.key.use { if case .string(let bytes) = $0 { bytes.array == wanted } else { false } }
            if isWanted { return entry.value }
        }
        return .null
    }

    /// Returns the values of a collection that a fold combines: the elements, or a property of the objects. Nulls are left out.
    private func values(
        of elements: [MigrationOperand.Element], _ property: String?, _ step: ExpressionPath.Step
    ) throws(WriteError) -> [OwnedValue] {
        var values: [OwnedValue] = []
        for element in elements {
            try spend(bytes: element.value.byteCount)
            let operand = try property.map { name throws(WriteError) in try follow(.name(name), from: element.value) }
            guard case .value(let held) = operand ?? element.value else {
                throw WriteError(.invalidSchema, "'\(step.text)' cannot follow the path before it")
            }
            if !held.value.isNull { values.append(held) }
        }
        return values
    }

    /// Combines values by the rules of the query language: without any the sum is 0, and all else null.
    private func fold(_ fold: ExpressionPath.Step.Fold, _ values: [OwnedValue]) throws(WriteError) -> OwnedValue {
        switch fold {
        case .min, .max:
            var best: OwnedValue?
            for value in values {
                try spend(bytes: value.byteCount)
                guard let known = best else {
                    best = value
                    continue
                }
                let order = known.use { known in value.use { Value.order($0, known) } }
                if fold == .min ? order < 0 : order > 0 { best = value }
            }
            return best ?? OwnedValue(.null)
        case .sum, .average:
            var sum = OwnedValue(.int(0))
            for value in values {
                try spend()
                sum = try Expression.combine(.add, sum, value)
            }
            guard fold == .average else { return sum }
            guard !values.isEmpty else { return OwnedValue(.null) }
            // An average of whole numbers has a fraction.
            if case .int(let whole) = sum.value { sum = OwnedValue(.double(Double(whole))) }
            return try Expression.combine(.divide, sum, OwnedValue(.int(Int64(values.count))))
        }
    }

    /// Returns the value of a property in one of the two states.
    func operand(
        named name: String, of place: ObjectPlace, _ state: MigrationOperand.State
    ) throws(WriteError) -> MigrationOperand {
        switch state {
        case .present: return try presentValue(of: name, at: place)
        case .past: return try pastValue(of: name, at: place)
        }
    }

    /// Returns the objects that link to an object through a property, once for each link.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` when there is no such class, or its property does not
    ///   link to the class of the object.
    private func linking(
        _ className: String, _ property: String, to place: ObjectPlace, _ state: MigrationOperand.State
    ) throws(WriteError) -> MigrationOperand {
        let keys: [ObjectKey]
        let origin: TableKey
        switch state {
        case .present:
            guard let table = try classTable(named: className), let column = table.column(named: property),
                let backlinks = try self.table(place.table).backlinks.first(where: {
                    $0.targetTable == table.key && $0.oppositeColumn?.leafIndex == column.leafIndex
                })
            else { throw WriteSession.noLinks(className, property) }
            guard let row = try stored(try transaction.row(place.object, in: place.table)) else { return .null }
            keys = try stored(try row.leaf.backlinks(backlinks, row: row.index).keys())
            origin = table.key
        case .past:
            guard let past = migrationWork.past, let table = past.table(place.table) else { return .null }
            guard let other = past.classTable(named: className), let column = other.column(named: property),
                let backlinks = table.backlinks.first(where: {
                    $0.targetTable == other.key && $0.oppositeColumn?.leafIndex == column.leafIndex
                })
            else { throw WriteSession.noLinks(className, property) }
            guard let row = try stored(try table.find(place.object)) else { return .null }
            keys = try stored(try row.leaf.backlinks(backlinks, row: row.index).keys())
            origin = other.key
        }
        var elements: [MigrationOperand.Element] = []
        for key in keys {
            try spend(WriteSession.unitsPerElement)
            try countComputed()
            elements.append(
                MigrationOperand.Element(
                    key: OwnedValue(.int(Int64(elements.count))),
                    value: .object(ObjectPlace(table: origin, object: key), state)))
        }
        return .collection(elements, isDictionary: false)
    }

    /// Makes the error for linking objects that cannot be.
    private static func noLinks(_ className: String, _ property: String) -> WriteError {
        WriteError(.invalidSchema, "no property '\(property)' of a class '\(className)' links to the object")
    }

    /// Throws `invalidSchema` when the object of a variable has been deleted.
    func requireObject(_ place: ObjectPlace, _ variable: String) throws(WriteError) {
        guard try isThere(place) else {
            throw WriteError(.invalidSchema, "the object '\(variable)' has been deleted by an earlier step")
        }
    }

    /// Returns an object as it was before the migration; null when it did not exist.
    private func pastObject(at place: ObjectPlace) throws(WriteError) -> MigrationOperand {
        guard let table = migrationWork.past?.table(place.table), try stored(try table.find(place.object)) != nil else {
            return .null
        }
        return .object(place, .past)
    }

    /// Returns the present value of a property.
    private func presentValue(of name: String, at place: ObjectPlace) throws(WriteError) -> MigrationOperand {
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
    private func pastValue(of name: String, at place: ObjectPlace) throws(WriteError) -> MigrationOperand {
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

    /// Returns a stored value as an operand: links lead to objects, and lists and dictionaries in mixed values are read.
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

    /// Counts time and memory for a value that is computed for the present object, as one object could
    /// otherwise have values that are made of each other any number of times.
    ///
    /// - Parameter byteCount: The bytes of a string or of data.
    /// - Throws: `WriteError` with the code `tooManyAffected` when they take more than a write may take, and
    ///   `deadlineExceeded` when its time is used up.
    func countComputed(_ byteCount: Int = 0) throws(WriteError) {
        try spend(bytes: byteCount)
        migrationWork.computedBytes += byteCount + MemoryLayout<MigrationOperand.Element>.stride
        guard migrationWork.computedBytes <= byteLimit else { throw tooMuch }
    }
}

extension ExpressionPath.Step {
    /// Whether the step is `$old`.
    fileprivate var isPast: Bool {
        if case .name(MigrationScope.past) = self { return true }
        return false
    }
}
