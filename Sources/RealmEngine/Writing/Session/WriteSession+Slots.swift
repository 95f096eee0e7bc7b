// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reading and filling slots.
extension WriteSession {
    /// Puts a value, which fits, into a slot.
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

    /// Makes a new embedded object in a slot; one that is there is deleted.
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

    /// The value in a slot; nil for an entry or element that is not there. Valid until the next change.
    func value(in slot: Slot) throws(WriteError) -> Value? {
        switch slot {
        case .property(let place, let column):
            return try stored(try transaction.value(column, of: place.object, in: place.table))
        case .element(let place, let index): return try element(index, of: place)
        case .newElement: return nil
        case .entry(let place, let key): return try entry(key, of: place)
        }
    }

    /// The embedded object in a slot.
    func embedded(in slot: Slot) throws(WriteError) -> ObjectPlace? {
        guard case .link(let table, let object)? = try value(in: slot) else { return nil }
        return ObjectPlace(table: table, object: object)
    }

    // MARK: - Collections

    /// Reads committed and new nodes alike.
    private var space: NodeSpace { transaction.writes.space }

    /// The elements of a list or set. Valid until the next change.
    func list(_ place: CollectionPlace) throws(WriteError) -> ListView {
        let root = try stored(try transaction.collection(at: place)).root
        let mayHold = try mayHoldUnresolved(place)
        return try stored(
            try ListView(
                root: root, space: space, shape: place.elementShape.elements, mayHoldUnresolved: mayHold))
    }

    /// Unresolved links are in lists and sets, but are never shown: positions here leave them out.
    private func mayHoldUnresolved(_ place: CollectionPlace) throws(WriteError) -> Bool {
        guard place.path.isEmpty, place.column.type == .link, place.column.collection != .dictionary,
            let target = place.column.targetTable
        else { return false }
        return try table(target).hasTombstones
    }

    /// Where an element is stored.
    private func storedIndex(of index: Int, in place: CollectionPlace) throws(WriteError) -> Int {
        try mayHoldUnresolved(place) ? try list(place).storedIndex(of: index) : index
    }

    /// Takes an element out of a list or set.
    func eraseElement(at index: Int, in place: CollectionPlace) throws(WriteError) {
        let position = try storedIndex(of: index, in: place)
        try stored(try changing.eraseElement(at: position, in: place))
    }

    /// Moves an element to the index that it has afterwards.
    func moveElement(from source: Int, to target: Int, in place: CollectionPlace) throws(WriteError) {
        guard try mayHoldUnresolved(place) else {
            return try stored(try changing.moveElement(from: source, to: target, in: place))
        }
        let list = try list(place)
        let from = list.storedIndex(of: source)
        // Before the element that comes next then, which is one place further to the front without the moved one.
        let next = list.storedIndex(of: target < source ? target : target + 1)
        try stored(try changing.moveElement(from: from, to: next > from ? next - 1 : next, in: place))
    }

    /// Exchanges two elements of a list.
    func swapElements(_ first: Int, _ second: Int, in place: CollectionPlace) throws(WriteError) {
        let positions = (try storedIndex(of: first, in: place), try storedIndex(of: second, in: place))
        try stored(try changing.swapElements(positions.0, positions.1, in: place))
    }

    /// The entries of a dictionary. Valid until the next change.
    func dictionary(_ place: CollectionPlace) throws(WriteError) -> DictionaryView {
        let root = try stored(try transaction.collection(at: place)).root
        return try stored(try DictionaryView(root: root, space: space))
    }

    /// How many elements a collection has, unresolved links not counted.
    func elementCount(_ place: CollectionPlace) throws(WriteError) -> Int {
        try mayHoldUnresolved(place) ? try list(place).count : try stored(try transaction.elementCount(place))
    }

    /// The element at `index`, or nil beyond the end.
    func element(_ index: Int, of place: CollectionPlace) throws(WriteError) -> Value? {
        let list = try list(place)
        guard index >= 0, index < list.count else { return nil }
        return try stored(try list.value(at: index))
    }

    /// The value of an entry, or nil. Valid until the next change.
    func entry(_ key: String, of place: CollectionPlace) throws(WriteError) -> Value? {
        let dictionary = try dictionary(place)
        let storage = ByteStorage(key)
        defer { withExtendedLifetime(storage) {} }
        return try stored(try dictionary.find(storage.view))
    }
}
