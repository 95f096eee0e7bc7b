// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares inputs with stored values, for upserts that leave equal values unchanged, and for test operations.
extension WriteSession {
    /// Returns whether a property already has the value that `input` describes.
    ///
    /// - Parameters:
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError` when the input does not fit the property.
    func isEqual(
        _ input: InputValue, to column: Column, of place: ObjectPlace, _ options: Options
    ) throws(WriteError) -> Bool {
        guard let kind = column.collection else {
            return try isEqual(input, in: .property(place, column), SlotShape(column), options)
        }
        return try isEqual(input, to: CollectionPlace(place.table, place.object, column), kind, options)
    }

    /// Returns whether the value in a slot is the one that `input` describes.
    ///
    /// - Parameters:
    ///   - slot: The place of the stored value.
    ///   - shape: The values that the place accepts.
    ///   - options: How inputs are accepted.
    /// - Returns: False also for an entry or element that does not exist.
    /// - Throws: `WriteError` when the input does not fit the shape.
    func isEqual(
        _ input: InputValue, in slot: Slot, _ shape: SlotShape, _ options: Options
    ) throws(WriteError) -> Bool {
        guard let present = try value(in: slot) else { return false }
        try spend(bytes: present.byteCount)
        switch (shape.type, input) {
        case (.link, .null), (.mixed, .null): return present.isNull
        case (.link, _): return try isEqualLink(input, to: present, shape, options)
        case (.mixed, .list), (.mixed, .object): return try isEqualNested(input, to: present, in: slot, options)
        case (.mixed, _): return try mixedValue(input, options).use { $0.isIdentical(to: present) }
        default:
            let value = try ValueReader.read(input, as: shape.type, isNullable: shape.isNullable)
            return value.use { $0.isIdentical(to: present) }
        }
    }

    /// Returns whether a link, or an embedded object, is the one that `input` describes.
    private func isEqualLink(
        _ input: InputValue, to present: Value, _ shape: SlotShape, _ options: Options
    ) throws(WriteError) -> Bool {
        guard let target = shape.target else { return false }
        let table = try table(target)
        guard table.kind == .embedded else {
            // A whole object may be new, or have members to write.
            if case .object = input { return false }
            return try link(input, to: table, shape, options).isIdentical(to: present)
        }
        guard case .object(let body) = input, case .link(_, let child) = present else { return false }
        return try isEqual(body, to: ObjectPlace(table: target, object: child), table, options)
    }

    /// Returns whether all members of a body equal those of an embedded object, and all its other properties are null or empty.
    private func isEqual(
        _ body: InputObject, to place: ObjectPlace, _ table: TableState, _ options: Options
    ) throws(WriteError) -> Bool {
        var given: Set<Int> = []
        for (name, value) in body.members where !naming.ignores(name) {
            // A guess at a hidden property is as wrong as one at a property that does not exist.
            guard let position = knownPosition(ofMember: name, of: table) else { return false }
            let column = table.columns[position]
            given.insert(column.leafIndex)
            guard try isEqual(value, to: column, of: place, options) else { return false }
        }
        for column in knownColumns(of: table) where !given.contains(column.leafIndex) {
            if column.collection == nil {
                guard try value(in: .property(place, column))?.isNull ?? true else { return false }
            } else {
                guard try elementCount(CollectionPlace(place.table, place.object, column)) == 0 else { return false }
            }
        }
        return true
    }

    // MARK: - Collections

    /// Returns whether a list or dictionary in a mixed value is the one that `input` describes.
    private func isEqualNested(
        _ input: InputValue, to present: Value, in slot: Slot, _ options: Options
    ) throws(WriteError) -> Bool {
        switch (input, present) {
        case (.list, .list): return try isEqual(input, to: slot.collection, .list, options)
        case (.object, .dictionary): return try isEqual(input, to: slot.collection, .dictionary, options)
        default: return false
        }
    }

    /// Returns whether a collection has exactly the elements or entries that `input` describes. Lists are compared in order.
    func isEqual(
        _ input: InputValue, to place: CollectionPlace, _ kind: CollectionKind, _ options: Options
    ) throws(WriteError) -> Bool {
        switch (kind, input) {
        case (.list, .list(let elements)):
            let list = try list(place)
            guard list.count == elements.count else { return false }
            for (index, element) in elements.enumerated() {
                try spend(WriteSession.unitsPerElement)
                let slot = Slot.element(place, list.storedIndex(of: index))
                guard try isEqual(element, in: slot, place.elementShape, options) else { return false }
            }
            return true
        case (.set, .list(let elements)): return try isEqualSet(elements, place, options)
        case (.dictionary, .object(let entries)):
            guard try elementCount(place) == entries.members.count else { return false }
            for (key, value) in entries.members {
                guard try isEqual(value, in: .entry(place, key), place.elementShape, options) else { return false }
            }
            return true
        default: return false
        }
    }

    /// Returns whether a set has the given members and no others, in any order and with repetitions.
    private func isEqualSet(
        _ elements: [InputValue], _ place: CollectionPlace, _ options: Options
    ) throws(WriteError) -> Bool {
        let present = try members(of: place)
        var wanted: [OwnedValue] = []
        for element in elements {
            let value = try member(element, of: place, options)
            try spend(bytes: value.byteCount)
            wanted.append(value)
        }
        let distinct = WriteSession.distinct(wanted)
        guard distinct.count == present.count else { return false }
        return zip(distinct, present).allSatisfy { $0.value.isIdentical(to: $1.value) }
    }

    /// Returns the elements of a list, or the members of a set, in their order. Their bytes are copied,
    /// so they survive changes.
    ///
    /// - Complexity: Linear in the number of elements, which is counted by the budget.
    func members(of place: CollectionPlace) throws(WriteError) -> [OwnedValue] {
        var members: [OwnedValue] = []
        var cursor = try list(place).elements()
        while let value = try stored(try cursor.next()) {
            try spend(bytes: value.byteCount)
            members.append(OwnedValue(copying: value))
        }
        return members
    }

    /// Returns values sorted and without duplicates. Of numbers that are equal across types the first one remains.
    static func distinct(_ values: [OwnedValue]) -> [OwnedValue] {
        let sorted = values.enumerated().sorted { left, right in
            let order = Value.order(left.element.value, right.element.value)
            return order != 0 ? order < 0 : left.offset < right.offset
        }
        var kept: [OwnedValue] = []
        for (_, value) in sorted {
            if let last = kept.last, Value.order(last.value, value.value) == 0 { continue }
            kept.append(value)
        }
        return kept
    }
}
