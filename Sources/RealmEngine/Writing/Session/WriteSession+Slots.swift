// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads and writes slots, and elements of collections.
extension WriteSession {
    /// Writes a value to a slot.
    ///
    /// - Parameters:
    ///   - value: A value that fits the slot; it is not checked again.
    ///   - slot: The place. Null leaves a link as it is that is null for the sender of the write already.
    /// - Throws: `WriteError` when storage rejects the value, such as one that is too long, and when the time of the write is used up.
    func put(_ value: Value, in slot: Slot) throws(WriteError) {
        if restriction != nil, value.isNull, try isHiddenLink(try storedValue(in: slot)) { return }
        try spend(bytes: value.byteCount)
        switch slot {
        case .property(let place, let column):
            try stored(try changing.set(value, column, of: place.object, in: place.table))
        case .element(let place, let index): try stored(try changing.setElement(value, at: index, in: place))
        case .newElement(let place, let index): try stored(try changing.insert(value, at: index, in: place))
        case .entry(let place, let key): _ = try stored(try changing.setEntry(key, value, in: place))
        }
    }

    /// Creates an embedded object in a slot. An embedded object that is there is deleted.
    ///
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

    /// Returns the value in a slot as the sender of the write sees it; nil for an entry or element that does not exist. It is
    /// valid until the next change.
    func value(in slot: Slot) throws(WriteError) -> Value? {
        guard let value = try storedValue(in: slot) else { return nil }
        return try shown(value)
    }

    /// Returns the value in a slot, hidden or not; nil for an entry or element that does not exist. It is valid until the next
    /// change.
    func storedValue(in slot: Slot) throws(WriteError) -> Value? {
        switch slot {
        case .property(let place, let column):
            return try stored(try transaction.value(column, of: place.object, in: place.table))
        case .element(let place, let index): return try storedElement(index, of: place)
        case .newElement: return nil
        case .entry(let place, let key): return try storedEntry(key, of: place)
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

    /// Returns a view of the elements of a list or set that the sender of the write sees. It is valid until the next change.
    func list(_ place: CollectionPlace) throws(WriteError) -> ListView {
        let space = mayHideElements(place) ? try view().space : space
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

    /// Returns a view of all stored elements of a list or set. It is valid until the next change.
    func storedList(_ place: CollectionPlace) throws(WriteError) -> ListView {
        let root = try stored(try transaction.collection(at: place)).root
        return try stored(try ListView(root: root, space: space, shape: place.elementShape.elements))
    }

    /// Returns whether the positions of clients leave out elements of a collection.
    private func leavesOut(_ place: CollectionPlace) throws(WriteError) -> Bool {
        if mayHideElements(place) { return true }
        return try mayHoldUnresolved(place)
    }

    /// Returns the stored position of the element that clients see at an index, which may be their number: then it is the end of
    /// what is stored.
    func storedIndex(of index: Int, in place: CollectionPlace) throws(WriteError) -> Int {
        try leavesOut(place) ? try list(place).storedIndex(of: index) : index
    }

    /// Removes an element from a list or set.
    ///
    /// - Parameters:
    ///   - index: The stored index.
    func eraseElement(at index: Int, in place: CollectionPlace) throws(WriteError) {
        try stored(try changing.eraseElement(at: index, in: place))
    }

    /// Removes the elements or entries of a collection, except links that the sender of the write does not see.
    func empty(_ place: CollectionPlace, _ kind: CollectionKind) throws(WriteError) {
        guard mayHideElements(place) else { return try stored(try changing.clear(place)) }
        guard kind == .dictionary else {
            let list = try storedList(place)
            var seen: [Int] = []
            for index in 0..<list.count {
                try spend(WriteSession.unitsPerElement)
                if try !isHiddenLink(try stored(try list.value(at: index))) { seen.append(index) }
            }
            guard seen.count < list.count else { return try stored(try changing.clear(place)) }
            for index in seen.reversed() { try eraseElement(at: index, in: place) }
            return
        }
        try emptyDictionary(place, except: [:])
    }

    /// Removes the entries of a dictionary, except links hidden from the writer and the keys about to be written.
    ///
    /// - Parameters:
    ///   - written: The entries that are about to be written.
    func emptyDictionary(_ place: CollectionPlace, except written: InputObject) throws(WriteError) {
        let kept = Set(written.members.map { ByteText($0.name) })
        var removed: [String] = []
        var cursor = try dictionary(place).entries()
        while let entry = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            let key = entry.key.bytes.string
            if !kept.contains(ByteText(key)), try !isHiddenLink(entry.value) { removed.append(key) }
        }
        for key in removed { _ = try stored(try changing.removeEntry(key, in: place)) }
    }

    /// Removes an entry of a dictionary, unless its value is a link to something that the sender of the write does not see.
    func removeEntry(_ key: String, in place: CollectionPlace) throws(WriteError) {
        if mayHideElements(place), try isHiddenLink(try storedEntry(key, of: place)) { return }
        _ = try stored(try changing.removeEntry(key, in: place))
    }

    /// Moves an element of a list.
    ///
    /// - Parameters:
    ///   - source: The present index of the element.
    ///   - target: The index that the element has after the move.
    func moveElement(from source: Int, to target: Int, in place: CollectionPlace) throws(WriteError) {
        guard try leavesOut(place) else {
            return try stored(try changing.moveElement(from: source, to: target, in: place))
        }
        let list = try list(place)
        let from = list.storedIndex(of: source)
        // The element is moved before the one that then follows it; without the moved element that one is one place closer to the
        // front.
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

    /// Returns the number of elements of a collection, without unresolved links and those that the sender of the write does not
    /// see.
    func elementCount(_ place: CollectionPlace) throws(WriteError) -> Int {
        guard try leavesOut(place) else { return try stored(try transaction.elementCount(place)) }
        // Entries are all seen, if not their values.
        if case .dictionary = try stored(try transaction.collection(at: place)).form {
            return try stored(try transaction.elementCount(place))
        }
        return try list(place).count
    }

    /// Returns the element at a stored index as the sender of the write sees it; nil for an index that is out of range. The value
    /// is valid until the next change.
    func element(_ index: Int, of place: CollectionPlace) throws(WriteError) -> Value? {
        guard let value = try storedElement(index, of: place) else { return nil }
        return try shown(value)
    }

    /// Returns the element at a stored index, hidden or not.
    private func storedElement(_ index: Int, of place: CollectionPlace) throws(WriteError) -> Value? {
        let list = try storedList(place)
        guard index >= 0, index < list.count else { return nil }
        return try stored(try list.value(at: index))
    }

    /// Returns the value of an entry as the sender of the write sees it; nil when there is none. It is valid until the next change.
    func entry(_ key: String, of place: CollectionPlace) throws(WriteError) -> Value? {
        guard let value = try storedEntry(key, of: place) else { return nil }
        return try shown(value)
    }

    /// Returns the value of an entry, hidden or not.
    private func storedEntry(_ key: String, of place: CollectionPlace) throws(WriteError) -> Value? {
        let dictionary = try dictionary(place)
        let storage = ByteStorage(key)
        defer { withExtendedLifetime(storage) {} }
        return try stored(try dictionary.find(storage.view))
    }
}
