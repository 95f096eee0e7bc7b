// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads and writes slots, and elements of collections.
extension WriteSession {
    /// Writes a value to a slot.
    ///
    /// - Parameters:
    ///   - value: A value that fits the slot; it is not checked again.
    ///   - slot: The place, as clients count elements.
    /// - Throws: `WriteError` when storage rejects the value, such as one that is too long.
    func put(_ value: Value, in slot: Slot) throws(WriteError) {
        switch slot {
        case .property(let place, let column):
            try stored(try changing.set(value, column, of: place.object, in: place.table))
        case .element(let place, let index):
            let position = try storedIndex(of: index, in: place)
            try stored(try changing.setElement(value, at: position, in: place))
        case .newElement(let place, let index):
            let position = try storedIndex(of: index, in: place)
            try stored(try changing.insert(value, at: position, in: place))
        case .entry(let place, let key): _ = try stored(try changing.setEntry(key, value, in: place))
        }
    }

    /// Creates an embedded object in a slot. An embedded object that is there is deleted.
    ///
    /// - Parameters:
    ///   - slot: The place.
    ///   - target: The class of the embedded object.
    /// - Returns: The new object, without values.
    func putEmbedded(in slot: Slot, _ target: TableKey) throws(WriteError) -> ObjectPlace {
        let key: ObjectKey
        switch slot {
        case .property(let place, let column):
            key = try stored(try changing.setEmbedded(column, of: place.object, in: place.table))
        case .element(let place, let index): key = try stored(try changing.replaceEmbedded(at: index, in: place))
        case .newElement(let place, let index): key = try stored(try changing.insertEmbedded(at: index, in: place))
        case .entry(let name, let entry): key = try stored(try changing.setEmbeddedEntry(entry, in: name))
        }
        return ObjectPlace(table: target, object: key)
    }

    /// Returns the value in a slot; nil for an entry or element that does not exist. It is valid until
    /// the next change.
    func value(in slot: Slot) throws(WriteError) -> Value? {
        switch slot {
        case .property(let place, let column):
            return try stored(try transaction.value(column, of: place.object, in: place.table))
        case .element(let place, let index): return try element(index, of: place)
        case .newElement: return nil
        case .entry(let place, let key): return try entry(key, of: place)
        }
    }

    /// Returns the embedded object in a slot; nil when the value is null or missing.
    func embedded(in slot: Slot) throws(WriteError) -> ObjectPlace? {
        guard case .link(let table, let object)? = try value(in: slot) else { return nil }
        return ObjectPlace(table: table, object: object)
    }

    // MARK: - Collections

    /// The nodes of the transaction, committed and new ones.
    private var space: NodeSpace { transaction.writes.space }

    /// Returns a view of the elements of a list or set. It is valid until the next change.
    func list(_ place: CollectionPlace) throws(WriteError) -> ListView {
        let root = try stored(try transaction.collection(at: place)).root
        let mayHold = try mayHoldUnresolved(place)
        return try stored(
            try ListView(
                root: root, space: space, shape: place.elementShape.elements, mayHoldUnresolved: mayHold))
    }

    /// Returns whether a collection may contain unresolved links.
    ///
    /// Lists and sets store such links (tombstones of synchronized realms), but they are never shown, and
    /// the positions of clients do not count them.
    private func mayHoldUnresolved(_ place: CollectionPlace) throws(WriteError) -> Bool {
        guard place.path.isEmpty, place.column.type == .link, place.column.collection != .dictionary,
            let target = place.column.targetTable
        else { return false }
        return try table(target).hasTombstones
    }

    /// Returns the stored position of the element that clients see at an index.
    private func storedIndex(of index: Int, in place: CollectionPlace) throws(WriteError) -> Int {
        try mayHoldUnresolved(place) ? try list(place).storedIndex(of: index) : index
    }

    /// Removes an element from a list or set.
    ///
    /// - Parameters:
    ///   - index: The index as clients count it.
    ///   - place: The collection.
    func eraseElement(at index: Int, in place: CollectionPlace) throws(WriteError) {
        let position = try storedIndex(of: index, in: place)
        try stored(try changing.eraseElement(at: position, in: place))
    }

    /// Moves an element of a list.
    ///
    /// - Parameters:
    ///   - source: The present index of the element.
    ///   - target: The index that the element has after the move.
    ///   - place: The list.
    func moveElement(from source: Int, to target: Int, in place: CollectionPlace) throws(WriteError) {
        guard try mayHoldUnresolved(place) else {
            return try stored(try changing.moveElement(from: source, to: target, in: place))
        }
        let list = try list(place)
        let from = list.storedIndex(of: source)
        // The element is moved before the one that then follows it; without the moved element that one is
        // a place further to the front.
        let next = list.storedIndex(of: target < source ? target : target + 1)
        try stored(try changing.moveElement(from: from, to: next > from ? next - 1 : next, in: place))
    }

    /// Exchanges two elements of a list.
    func swapElements(_ first: Int, _ second: Int, in place: CollectionPlace) throws(WriteError) {
        let positions = (try storedIndex(of: first, in: place), try storedIndex(of: second, in: place))
        try stored(try changing.swapElements(positions.0, positions.1, in: place))
    }

    /// Returns a view of the entries of a dictionary. It is valid until the next change.
    func dictionary(_ place: CollectionPlace) throws(WriteError) -> DictionaryView {
        let root = try stored(try transaction.collection(at: place)).root
        return try stored(try DictionaryView(root: root, space: space))
    }

    /// Returns the number of elements of a collection, without unresolved links.
    func elementCount(_ place: CollectionPlace) throws(WriteError) -> Int {
        try mayHoldUnresolved(place) ? try list(place).count : try stored(try transaction.elementCount(place))
    }

    /// Returns the element at an index; nil for an index that is out of range. The value is valid until
    /// the next change.
    func element(_ index: Int, of place: CollectionPlace) throws(WriteError) -> Value? {
        let list = try list(place)
        guard index >= 0, index < list.count else { return nil }
        return try stored(try list.value(at: index))
    }

    /// Returns the value of an entry; nil when there is none. It is valid until the next change.
    func entry(_ key: String, of place: CollectionPlace) throws(WriteError) -> Value? {
        let dictionary = try dictionary(place)
        let storage = ByteStorage(key)
        defer { withExtendedLifetime(storage) {} }
        return try stored(try dictionary.find(storage.view))
    }
}
