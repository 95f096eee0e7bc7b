// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes inputs to properties, elements and entries.
extension WriteSession {
    /// Writes an input to a property of an object.
    ///
    /// - Parameters:
    ///   - rule: Whether the value replaces the present one, is merged, or is written only if it differs.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError` when the input does not fit the property, with a path that begins inside
    ///   the input.
    func write(
        _ input: InputValue, to column: Column, of place: ObjectPlace, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        if case .updateModified = rule, try isEqual(input, to: column, of: place, options) { return }
        guard let kind = column.collection else {
            return try write(input, in: .property(place, column), SlotShape(column), rule, options)
        }
        let collection = CollectionPlace(place.table, place.object, column)
        switch kind {
        case .list: try writeList(try WriteSession.elements(of: input), to: collection, rule, options)
        case .set: try writeSet(try WriteSession.elements(of: input), to: collection, rule, options)
        case .dictionary: try writeDictionary(try WriteSession.entries(of: input), to: collection, rule, options)
        }
    }

    /// Returns the elements of an input for a list or set; throws `nullNotAllowed` or `typeMismatch` for other inputs.
    private static func elements(of input: InputValue) throws(WriteError) -> [InputValue] {
        switch input {
        case .list(let elements): return elements
        case .null: throw WriteError(.nullNotAllowed, "a collection cannot be null")
        default: throw WriteError(.typeMismatch, "expected an array, got \(input.kind)")
        }
    }

    /// Returns the entries of an input for a dictionary; throws `nullNotAllowed` or `typeMismatch` for other inputs.
    private static func entries(of input: InputValue) throws(WriteError) -> InputObject {
        switch input {
        case .object(let object): return object
        case .null: throw WriteError(.nullNotAllowed, "a collection cannot be null")
        default: throw WriteError(.typeMismatch, "expected a dictionary, got \(input.kind)")
        }
    }

    // MARK: - One value

    /// Writes one value: that of a property, an element or an entry.
    ///
    /// - Parameters:
    ///   - slot: The place.
    ///   - shape: The values that the place accepts.
    ///   - rule: Whether an embedded object is merged or replaced.
    ///   - options: How inputs are accepted.
    func write(
        _ input: InputValue, in slot: Slot, _ shape: SlotShape, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        switch shape.type {
        case .link:
            guard let target = shape.target else { throw ValueReader.mismatch(input, .link) }
            let table = try table(target)
            guard table.kind != .embedded else {
                return try writeEmbedded(input, in: slot, shape, of: table, rule, options)
            }
            try put(try link(input, to: table, shape, options), in: slot)
        case .mixed: try writeMixed(input, in: slot, options)
        default:
            let value = try ValueReader.read(input, as: shape.type, isNullable: shape.isNullable)
            try value.use { value throws(WriteError) in try put(value, in: slot) }
        }
    }

    /// Writes an embedded object: to the existing one when the rule merges or the sender of the write cannot see all of it, otherwise
    /// a new one.
    private func writeEmbedded(
        _ input: InputValue, in slot: Slot, _ shape: SlotShape, of table: TableState, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        switch input {
        case .null:
            guard shape.isNullable else { throw WriteError(.nullNotAllowed, "expected an embedded object, got null") }
            try put(.null, in: slot)
        case .object(let body):
            if case .merge = rule, let child = try embedded(in: slot) {
                return try write(body, to: child, table, .merge, options)
            }
            if let child = try embeddedWithUnseen(in: slot, of: table) {
                return try write(completed(body, table, keepsUnseen: true), to: child, table, .replace, options)
            }
            let child = try putEmbedded(in: slot, table.key)
            try write(body, to: child, table, .create, options)
        case .link: throw WriteError(.typeMismatch, "embedded objects are given whole, not as links")
        default: throw WriteError(.typeMismatch, "expected an object, got \(input.kind)")
        }
    }

    // MARK: - Mixed

    /// Writes a mixed value, including nested lists and dictionaries.
    private func writeMixed(_ input: InputValue, in slot: Slot, _ options: Options) throws(WriteError) {
        switch input {
        case .list(let elements):
            if let place = try collectionWithUnseen(.list, in: slot) { return try assign(elements, to: place, options) }
            let place = try putNested(.list(.none), in: slot)
            for (index, element) in elements.enumerated() {
                try spend(WriteSession.unitsPerElement)
                try at(.index(index), try writeMixed(element, in: .newElement(place, index), options))
            }
        case .object(let object):
            let present = try collectionWithUnseen(.dictionary, in: slot)
            if let present { try emptyDictionary(present, except: object) }
            let place = if let present { present } else { try putNested(.dictionary(.none), in: slot) }
            for (key, value) in object.members {
                try spend(WriteSession.unitsPerElement)
                try at(.name(key), try requireKey(key))
                try at(.name(key), try writeMixed(value, in: .entry(place, key), options))
            }
        default:
            let value = try mixedValue(input, options)
            try value.use { value throws(WriteError) in try put(value, in: slot) }
        }
    }

    /// Writes an empty list or dictionary to a mixed slot, and returns its place; throws `outOfRange`
    /// when it is nested too deeply.
    private func putNested(_ empty: Value, in slot: Slot) throws(WriteError) -> CollectionPlace {
        let place = slot.collection
        guard place.path.count <= WriteSession.maximumNesting else {
            throw WriteError(.outOfRange, "collections nest at most \(WriteSession.maximumNesting) deep")
        }
        try put(empty, in: slot)
        return place
    }

    /// The maximum number of nested collections in a mixed value, as deep as the SDKs can read.
    private static let maximumNesting = 100

    /// Returns an input as a mixed value that is not a collection.
    ///
    /// - Parameters:
    ///   - input: The value as it was given; a link may lead to any top-level class.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `linkTargetMissing`, or `typeMismatch` for a link to an embedded object.
    func mixedValue(_ input: InputValue, _ options: Options) throws(WriteError) -> OwnedValue {
        guard case .link(let link) = input else {
            return try ValueReader.read(input, as: .mixed, isNullable: true)
        }
        let target = try resolve(link, expecting: nil)
        guard try table(target.table).kind != .embedded else {
            throw WriteError(.typeMismatch, "nothing can link to an object of an embedded class")
        }
        return OwnedValue(.link(target.table, target.object))
    }

    // MARK: - Collections

    /// Replaces all elements of a list.
    private func writeList(
        _ elements: [InputValue], to place: CollectionPlace, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        if try mayHoldUnseen(place, rule) { return try assign(elements, to: place, options) }
        try clear(place, .list, rule)
        let shape = place.elementShape
        for (index, element) in elements.enumerated() {
            try spend(WriteSession.unitsPerElement)
            if index & 0xff == 0xff { try checkDeadline() }
            try at(.index(index), try write(element, in: .newElement(place, index), shape, .create, options))
        }
    }

    /// Replaces all members of a set.
    private func writeSet(
        _ elements: [InputValue], to place: CollectionPlace, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        try clear(place, .set, rule)
        for (index, element) in elements.enumerated() {
            try spend(WriteSession.unitsPerElement)
            if index & 0xff == 0xff { try checkDeadline() }
            try at(.index(index), try insertMember(element, in: place, options))
        }
    }

    /// Adds a member to a set. Equal members are stored once.
    ///
    /// - Parameters:
    ///   - options: How inputs are accepted.
    /// - Returns: Whether the member is new.
    @discardableResult
    func insertMember(_ input: InputValue, in place: CollectionPlace, _ options: Options) throws(WriteError) -> Bool {
        try member(input, of: place, options).use { value throws(WriteError) in
            try spend(bytes: value.byteCount)
            return try stored(try changing.insertMember(value, in: place))
        }
    }

    /// Returns an input as a value that a set can contain.
    ///
    /// - Parameters:
    ///   - place: The set, whose type decides.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError` when the input does not fit the set.
    func member(_ input: InputValue, of place: CollectionPlace, _ options: Options) throws(WriteError) -> OwnedValue {
        let shape = place.elementShape
        switch shape.type {
        case .link:
            guard let target = shape.target else { throw ValueReader.mismatch(input, .link) }
            return OwnedValue(try link(input, to: try table(target), shape, options))
        case .mixed: return try mixedValue(input, options)
        default: return try ValueReader.read(input, as: shape.type, isNullable: shape.isNullable)
        }
    }

    /// Writes the entries of a dictionary: all of them, or with the merge rule only those given, where
    /// null removes an entry unless the input keeps nulls.
    private func writeDictionary(
        _ entries: InputObject, to place: CollectionPlace, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        let merges = if case .merge = rule { true } else { false }
        if !merges, try mayHoldUnseen(place, rule) {
            // Remaining entries are written into, so that they keep their hidden parts.
            try emptyDictionary(place, except: entries)
        } else if !merges {
            try clear(place, .dictionary, rule)
        }
        let shape = place.elementShape
        for (key, value) in entries.members {
            if merges, !entries.keepsNulls, case .null = value {
                try removeEntry(key, in: place)
                continue
            }
            try at(.name(key), try requireKey(key))
            try at(.name(key), try write(value, in: .entry(place, key), shape, merges ? .merge : .create, options))
        }
    }

    /// Removes all elements of a collection that the sender of the write sees, unless its object is new.
    private func clear(_ place: CollectionPlace, _ kind: CollectionKind, _ rule: WriteRule) throws(WriteError) {
        if case .create = rule { return }
        try empty(place, kind)
    }

    /// Throws `invalidDictionaryKey` for a key that Realm does not allow: one that starts with `$` or contains a dot.
    func requireKey(_ key: String) throws(WriteError) {
        guard !key.hasPrefix("$"), !key.contains(".") else {
            throw WriteError(.invalidDictionaryKey, "the keys of dictionaries do not begin with '$' and have no '.'")
        }
    }
}
