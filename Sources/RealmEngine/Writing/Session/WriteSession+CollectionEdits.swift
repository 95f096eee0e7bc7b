// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Changes of single elements of collections, which keep change sets small.
extension WriteSession {
    /// Changes a list of an object, or one that a path leads to.
    ///
    /// - Parameters:
    ///   - property: The property, or the path to a list.
    ///   - object: The object, which must not be embedded.
    ///   - edits: The changes in their order.
    ///   - options: How inputs are accepted.
    /// - Returns: The number of elements afterwards.
    /// - Throws: `WriteError` with the index of the failed edit in its path.
    package func editList(
        _ property: PropertyAddress, of object: ObjectPlace, _ edits: [ListEdit], options: Options = Options()
    ) throws(WriteError) -> Int {
        try apply(edits, to: try collection(property, of: object, .list)) { edit, place throws(WriteError) in
            try apply(edit, to: place, options)
        }
    }

    /// Changes a set of an object, or one that a path leads to.
    ///
    /// - Parameters:
    ///   - property: The property, or the path to a set.
    ///   - object: The object, which must not be embedded.
    ///   - edits: The changes in their order.
    ///   - options: How inputs are accepted.
    /// - Returns: The number of members afterwards.
    /// - Throws: `WriteError` with the index of the failed edit in its path.
    package func editSet(
        _ property: PropertyAddress, of object: ObjectPlace, _ edits: [SetEdit], options: Options = Options()
    ) throws(WriteError) -> Int {
        try apply(edits, to: try collection(property, of: object, .set)) { edit, place throws(WriteError) in
            try apply(edit, to: place, options)
        }
    }

    /// Changes a dictionary of an object, or one that a path leads to.
    ///
    /// - Parameters:
    ///   - property: The property, or the path to a dictionary.
    ///   - object: The object, which must not be embedded.
    ///   - edits: The changes in their order.
    ///   - options: How inputs are accepted.
    /// - Returns: The number of entries afterwards.
    /// - Throws: `WriteError` with the index of the failed edit in its path.
    package func editDictionary(
        _ property: PropertyAddress, of object: ObjectPlace, _ edits: [DictionaryEdit], options: Options = Options()
    ) throws(WriteError) -> Int {
        try apply(edits, to: try collection(property, of: object, .dictionary)) { edit, place throws(WriteError) in
            try apply(edit, to: place, options)
        }
    }

    /// Returns the place that an address refers to in an object.
    ///
    /// - Throws: `WriteError`: `unknownProperty` or `pathNotFound` when the address leads nowhere.
    func locate(_ property: PropertyAddress, in place: ObjectPlace) throws(WriteError) -> Location {
        let isProperty = knownColumn(property.text, of: try table(place.table)) != nil
        let steps = isProperty ? nil : property.steps
        return try locate(steps ?? [.name(property.text)], in: place, for: .existing)
    }

    /// Applies the edits in order, and returns the number of elements afterwards.
    /// Errors have the index of the edit. If an edit deletes the object itself, the number is 0.
    private func apply<Edit>(
        _ edits: [Edit], to place: CollectionPlace,
        _ apply: (Edit, CollectionPlace) throws(WriteError) -> Void
    ) throws(WriteError) -> Int {
        for (index, edit) in edits.enumerated() {
            try spend(WriteSession.unitsPerElement)
            if index > 0, try !isThere(place) {
                throw WriteError(.objectNotFound, "an earlier edit deleted the object").inside(.index(index))
            }
            try at(.index(index), try apply(edit, place))
        }
        return try isThere(place) ? elementCount(place) : 0
    }

    /// Returns whether the object of a collection still exists. A list may contain the object that it belongs to, which is then
    /// deleted with the others by `deleteAll`.
    private func isThere(_ place: CollectionPlace) throws(WriteError) -> Bool {
        try isThere(ObjectPlace(table: place.table, object: place.object))
    }

    /// Returns the collection of the given kind that an address refers to; throws `typeMismatch` for any other value.
    private func collection(
        _ property: PropertyAddress, of object: ObjectPlace, _ kind: CollectionKind
    ) throws(WriteError) -> CollectionPlace {
        try authorize(.update, object, try objectTable(of: object))
        try requireSeen(object)
        switch try locate(property, in: object) {
        case .collection(let place, let column, kind): return CollectionPlace(place.table, place.object, column)
        case .slot(let slot, _):
            switch (try value(in: slot), kind) {
            case (.list?, .list), (.dictionary?, .dictionary): return slot.collection
            default: break
            }
        default: break
        }
        throw WriteError(.typeMismatch, "there is no \(kind.name) at '\(property.text)'")
    }

    // MARK: - Lists

    /// Applies one edit to a list, after a check of the deadline.
    private func apply(_ edit: ListEdit, to place: CollectionPlace, _ options: Options) throws(WriteError) {
        try checkDeadline()
        let count = try elementCount(place)
        let shape = place.elementShape
        switch edit {
        case .add(let value):
            try write(value, in: .newElement(place, try storedIndex(of: count, in: place)), shape, .create, options)
        case .insert(let index, let value):
            try require(index, in: count + 1)
            try write(value, in: .newElement(place, try storedIndex(of: index, in: place)), shape, .create, options)
        case .set(let index, let value):
            try require(index, in: count)
            try write(value, in: .element(place, try storedIndex(of: index, in: place)), shape, .create, options)
        case .remove(let index):
            try require(index, in: count)
            try eraseElement(at: try storedIndex(of: index, in: place), in: place)
        case .move(let source, let target):
            try require(source, in: count)
            try require(target, in: count)
            try moveElement(from: source, to: target, in: place)
        case .swap(let first, let second):
            try require(first, in: count)
            try require(second, in: count)
            try swapElements(first, second, in: place)
        case .clear: try empty(place, .list)
        case .deleteAll: try deleteTargets(of: place)
        }
    }

    /// Throws `pathNotFound` unless an index is at least 0 and less than `count`.
    private func require(_ index: Int, in count: Int) throws(WriteError) {
        guard index >= 0, index < count else {
            throw WriteError(.pathNotFound, "the list has no place \(index)")
        }
    }

    /// Deletes the objects that the elements of a list of links refer to, and empties the list.
    private func deleteTargets(of place: CollectionPlace) throws(WriteError) {
        guard place.elementShape.type == .link else {
            throw WriteError(.typeMismatch, "only the objects of a list of links can be deleted")
        }
        for member in try members(of: place) {
            try spend(WriteSession.unitsPerElement)
            guard case .link(let table, let object) = member.value else { continue }
            let target = ObjectPlace(table: table, object: object)
            try aside { () throws(WriteError) in try authorize(.delete, target, try self.table(table)) }
            try stored(try changing.deleteObject(object, in: table))
        }
        if try isThere(place) { try empty(place, .list) }
    }

    // MARK: - Sets

    /// Applies one edit to a set, after a check of the deadline.
    private func apply(_ edit: SetEdit, to place: CollectionPlace, _ options: Options) throws(WriteError) {
        try checkDeadline()
        switch edit {
        case .insert(let value): try insertMember(value, in: place, options)
        case .remove(let value): try removeMember(try member(value, of: place, options), from: place)
        case .clear: try empty(place, .set)
        case .union(let values):
            for (index, value) in values.enumerated() {
                try spend(WriteSession.unitsPerElement)
                try at(.index(index), try insertMember(value, in: place, options))
            }
        case .minus(let values):
            for (index, value) in values.enumerated() {
                try spend(WriteSession.unitsPerElement)
                let member = try at(.index(index), try member(value, of: place, options))
                try removeMember(member, from: place)
            }
        case .intersect(let values): try intersect(place, values, options)
        }
    }

    private func removeMember(_ member: OwnedValue, from place: CollectionPlace) throws(WriteError) {
        try member.use { value throws(WriteError) in
            try spend(bytes: value.byteCount)
            _ = try stored(try changing.removeMember(value, in: place))
        }
    }

    /// Removes the members of a set that are not among `values`.
    ///
    /// - Complexity: O((n + m) log m) comparisons for n members and m values.
    private func intersect(_ place: CollectionPlace, _ values: [InputValue], _ options: Options) throws(WriteError) {
        var kept: [OwnedValue] = []
        for (index, value) in values.enumerated() {
            let member = try at(.index(index), try member(value, of: place, options))
            try spend(bytes: member.byteCount)
            kept.append(member)
        }
        let sorted = WriteSession.distinct(kept)
        for member in try members(of: place) {
            try spend(WriteSession.unitsPerElement)
            if !WriteSession.contains(member, sorted) { try removeMember(member, from: place) }
        }
    }

    /// Returns whether a value is among values that are sorted by their order; a binary search.
    private static func contains(_ member: OwnedValue, _ sorted: [OwnedValue]) -> Bool {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            let order = Value.order(sorted[middle].value, member.value)
            if order == 0 { return true }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }

    // MARK: - Dictionaries

    /// Applies one edit to a dictionary, after a check of the deadline.
    private func apply(_ edit: DictionaryEdit, to place: CollectionPlace, _ options: Options) throws(WriteError) {
        try checkDeadline()
        switch edit {
        case .set(let key, let value):
            try requireKey(key)
            try write(value, in: .entry(place, key), place.elementShape, .create, options)
        case .remove(let key): try removeEntry(key, in: place)
        case .clear: try empty(place, .dictionary)
        }
    }
}
