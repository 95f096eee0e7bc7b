// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reading and filling slots.
extension WriteSession {
    /// Puts a value, which fits, into a slot.
    func put(_ value: Value, in slot: Slot) throws(WriteError) {
        switch slot {
        case .property(let place, let column):
            try stored(try transaction.set(value, column, of: place.object, in: place.table))
        case .element(let place, let index): try stored(try transaction.setElement(value, at: index, in: place))
        case .newElement(let place, let index): try stored(try transaction.insert(value, at: index, in: place))
        case .entry(let place, let key): _ = try stored(try transaction.setEntry(key, value, in: place))
        }
    }

    /// Makes a new embedded object in a slot; one that is there is deleted.
    func putEmbedded(in slot: Slot, _ target: TableKey) throws(WriteError) -> ObjectPlace {
        let key: ObjectKey
        switch slot {
        case .property(let place, let column):
            key = try stored(try transaction.setEmbedded(column, of: place.object, in: place.table))
        case .element(let place, let index): key = try stored(try transaction.replaceEmbedded(at: index, in: place))
        case .newElement(let place, let index): key = try stored(try transaction.insertEmbedded(at: index, in: place))
        case .entry(let name, let entry): key = try stored(try transaction.setEmbeddedEntry(entry, in: name))
        }
        return ObjectPlace(table: target, object: key)
    }

    /// What stands in a slot; nil for an entry or element that is not there. Valid until the next change.
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

    private var space: NodeSpace { transaction.writes.space }

    /// The elements of a list or set. Valid until the next change.
    func list(_ place: CollectionPlace) throws(WriteError) -> ListView {
        let root = try stored(try transaction.collection(at: place)).root
        return try stored(try ListView(root: root, space: space, shape: place.elementShape.elements))
    }

    /// The entries of a dictionary. Valid until the next change.
    func dictionary(_ place: CollectionPlace) throws(WriteError) -> DictionaryView {
        let root = try stored(try transaction.collection(at: place)).root
        return try stored(try DictionaryView(root: root, space: space))
    }

    func elementCount(_ place: CollectionPlace) throws(WriteError) -> Int { try stored(try transaction.elementCount(place)) }

    /// The element at `index`, or nil beyond the end.
    func element(_ index: Int, of place: CollectionPlace) throws(WriteError) -> Value? {
        let list = try list(place)
        guard index >= 0, index < list.count else { return nil }
        return try stored(try list.value(at: index))
    }

    func entry(_ key: String, of place: CollectionPlace) throws(WriteError) -> Value? {
        let dictionary = try dictionary(place)
        let storage = ByteStorage(key)
        defer { withExtendedLifetime(storage) {} }
        return try stored(try dictionary.find(storage.view))
    }
}
