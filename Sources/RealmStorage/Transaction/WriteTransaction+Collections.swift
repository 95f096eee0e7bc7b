// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes of lists, sets and dictionaries, those of properties and those nested in Mixed.
///
/// Each change keeps the backlinks of targets, the search index of the property and the list of changes for observers up to
/// date. Callers have checked values against the type of the elements and positions against the size. All functions throw
/// `.limit` when the place holds no collection, `.corrupt` for damage or a position that does not exist, and `.stopped` when
/// the work budget is used up.
extension WriteTransaction {
    // MARK: - Lists

    /// Inserts an element into a list.
    ///
    /// - Parameters:
    ///   - value: A value of the elements' type; the target of a link must exist.
    ///   - index: The new position, `0...count`; unresolved links count.
    package func insert(_ value: Value, at index: Int, in place: CollectionPlace) throws(StorageError) {
        try edit(place) { root, form throws(StorageError) in
            root = try BPlusTreeWriter(writes, form.elements).insert(value, at: index, in: root)
        }
        try record(value, at: place)
        try touch(place, .insert(index))
    }

    /// Replaces an element of a list.
    ///
    /// An embedded object that the old element linked to is deleted.
    ///
    /// - Parameters:
    ///   - value: A value of the elements' type; the target of a link must exist.
    ///   - index: An element of the list; unresolved links count.
    package func setElement(_ value: Value, at index: Int, in place: CollectionPlace) throws(StorageError) {
        let old = try links(at: index, in: place)
        try edit(place) { root, form throws(StorageError) in
            root = try BPlusTreeWriter(writes, form.elements).set(value, at: index, in: root)
        }
        try record(value, at: place)
        try touch(place, .set(index))
        try forget(old, from: place)
    }

    /// Removes an element of a list or set. An embedded object that it linked to is deleted.
    ///
    /// - Parameters:
    ///   - index: An element; unresolved links count.
    package func eraseElement(at index: Int, in place: CollectionPlace) throws(StorageError) {
        let old = try links(at: index, in: place)
        try edit(place) { root, form throws(StorageError) in
            root = try BPlusTreeWriter(writes, form.elements).erase(at: index, in: root)
        }
        try touch(place, .erase(index))
        try forget(old, from: place)
    }

    /// Moves an element of a list; collections nested in it and the backlinks of its links stay as they are.
    ///
    /// - Parameters:
    ///   - source: The present position.
    ///   - target: The position that the element has afterwards.
    package func moveElement(from source: Int, to target: Int, in place: CollectionPlace) throws(StorageError) {
        guard source != target else { return }
        try edit(place) { root, form throws(StorageError) in
            let writer = BPlusTreeWriter(writes, form.elements)
            let value = try detachedElement(at: source, in: &root, form)
            root = try writer.insert(value.value, at: target, in: root)
            withExtendedLifetime(value) {}
        }
        try touch(place, .move(from: source, to: target))
    }

    /// Exchanges two elements of a list. Observers are notified of one or two moves rather than of two replacements.
    package func swapElements(_ first: Int, _ second: Int, in place: CollectionPlace) throws(StorageError) {
        guard first != second else { return }
        let (low, high) = (min(first, second), max(first, second))
        try moveElement(from: high, to: low, in: place)
        if high - low > 1 { try moveElement(from: low + 1, to: high, in: place) }
    }

    /// Makes an embedded object and inserts a link to it into a list.
    ///
    /// - Returns: The key of the new object, whose properties have default values.
    /// - Throws: `.limit` when the property does not hold embedded objects.
    package func insertEmbedded(at index: Int, in place: CollectionPlace) throws(StorageError) -> ObjectKey {
        let (target, child) = try makeEmbedded(for: place)
        try insert(.link(target, child), at: index, in: place)
        return child
    }

    /// Makes an embedded object and puts it in the place of the one at `index`, which is deleted.
    ///
    /// - Returns: The key of the new object, whose properties have default values.
    /// - Throws: `.limit` when the property does not hold embedded objects.
    package func replaceEmbedded(at index: Int, in place: CollectionPlace) throws(StorageError) -> ObjectKey {
        let (target, child) = try makeEmbedded(for: place)
        try setElement(.link(target, child), at: index, in: place)
        return child
    }

    /// Makes an embedded object for an element of a collection; throws `.limit` when the property does not hold such objects.
    private func makeEmbedded(for place: CollectionPlace) throws(StorageError) -> (TableKey, ObjectKey) {
        guard let target = place.column.targetTable, try table(target).kind == .embedded else {
            throw WriteTransaction.noEmbedded
        }
        return (target, try createObject(in: target))
    }

    /// Removes all elements of a collection.
    ///
    /// Embedded objects and nested collections in it are deleted. Links to other objects are
    /// removed with their backlinks; the objects stay.
    package func clear(_ place: CollectionPlace) throws(StorageError) {
        let (root, form) = try collection(at: place)
        let count = try elementTree(root, form).count
        guard count > 0 else { return }
        let old = try storedLinks(in: root, form)
        try edit(place) { root, _ throws(StorageError) in
            try writes.discardTree(root)
            root = .none
        }
        try touch(place, .clear(count: count))
        try forget(old, from: place)
    }

    // MARK: - Sets

    /// Adds a member to a set unless the set has an equal one.
    ///
    /// - Parameters:
    ///   - value: A value of the members' type; the target of a link must exist.
    /// - Returns: Whether the member was added.
    /// - Throws: `.limit` for a value that the set cannot hold.
    @discardableResult
    package func insertMember(_ value: Value, in place: CollectionPlace) throws(StorageError) -> Bool {
        let index = try edit(place) { root, form throws(StorageError) -> Int? in
            let added = try SetWriter(writes, form.elements).insert(value, in: root)
            root = added.root
            return added.isNew ? added.index : nil
        }
        guard let index else { return false }
        try record(value, at: place)
        try touch(place, .insert(index))
        return true
    }

    /// Removes the member of a set that equals `value`.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func removeMember(_ value: Value, in place: CollectionPlace) throws(StorageError) -> Bool {
        let (root, form) = try collection(at: place)
        guard let index = try SetWriter(writes, form.elements).index(of: value, in: root) else { return false }
        try eraseElement(at: index, in: place)
        return true
    }

    // MARK: - Dictionaries

    /// Sets the value under a key of a dictionary. The contents of the old value are deleted.
    ///
    /// - Parameters:
    ///   - value: The value; the target of a link must exist.
    ///   - place: The dictionary.
    /// - Returns: Whether the key is new.
    @discardableResult
    package func setEntry(_ key: String, _ value: Value, in place: CollectionPlace) throws(StorageError) -> Bool {
        let (root, form) = try collection(at: place)
        let position = try DictionaryWriter(writes).position(of: key, in: root)
        let old = try position.map { (position) throws(StorageError) in try storedLinks(at: position, in: root, form) } ?? []
        let index = try edit(place) { root, _ throws(StorageError) -> Int in
            let changed = try DictionaryWriter(writes).set(key, value, in: root)
            root = changed.root
            return changed.index
        }
        try record(value, at: place)
        try touch(place, position == nil ? .insert(index) : .set(index))
        try forget(old, from: place)
        return position == nil
    }

    /// Makes an embedded object under a key of a dictionary, in place of the one that is there, which is deleted.
    ///
    /// - Returns: The key of the new object, whose properties have default values.
    package func setEmbeddedEntry(_ key: String, in place: CollectionPlace) throws(StorageError) -> ObjectKey {
        let (target, child) = try makeEmbedded(for: place)
        try setEntry(key, .link(target, child), in: place)
        return child
    }

    /// Removes the entry of a dictionary under a key. The contents of its value are deleted.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func removeEntry(_ key: String, in place: CollectionPlace) throws(StorageError) -> Bool {
        let (root, form) = try collection(at: place)
        guard let position = try DictionaryWriter(writes).position(of: key, in: root) else { return false }
        let old = try storedLinks(at: position, in: root, form)
        try edit(place) { root, _ throws(StorageError) in root = try DictionaryWriter(writes).erase(at: position, in: root) }
        try touch(place, .erase(position))
        try forget(old, from: place)
        return true
    }

    // MARK: - Common

    /// Returns the links in an element, those in collections nested in it included.
    private func links(at index: Int, in place: CollectionPlace) throws(StorageError) -> [StoredLink] {
        let (root, form) = try collection(at: place)
        return try storedLinks(at: index, in: root, form)
    }

    /// Adds the backlink to the target of `value`, if it is a link.
    private func record(_ value: Value, at place: CollectionPlace) throws(StorageError) {
        guard case .link(let table, let object) = value else { return }
        try addBacklink(to: StoredLink(table: table, object: object), from: place.object, place.column, in: place.table)
    }

    /// Removes the backlinks of links that were removed, and deletes the embedded objects that they led to.
    private func forget(_ links: [StoredLink], from place: CollectionPlace) throws(StorageError) {
        for link in links {
            try spend()
            try removeBacklink(to: link, from: place.object, place.column, in: place.table)
        }
        for link in links where try table(link.table).kind == .embedded {
            try deleteObject(link.object, in: link.table)
        }
    }

    /// Adds a change of an element to the list of changes for observers.
    ///
    /// A change inside of a nested collection is reported as a change of the element of the
    /// property's collection that holds it.
    private func touch(_ place: CollectionPlace, _ change: CollectionChange) throws(StorageError) {
        if let step = place.path.first, place.column.collection != nil {
            // A change inside of an element is reported as a change of that element.
            let property = CollectionPlace(place.table, place.object, place.column)
            let (root, form) = try collection(at: property)
            log(.set(try position(of: step, in: root, form)), at: property)
        } else {
            log(change, at: place)
        }
        changes.append(.modified(place.table, place.object, place.column.key))
    }

    /// Removes an element from its tree and returns it with a copy of its bytes; a collection nested in it is kept.
    private func detachedElement(
        at index: Int, in root: inout Ref, _ form: CollectionForm
    ) throws(StorageError) -> DetachedValue {
        let writer = BPlusTreeWriter(writes, form.elements)
        let place = try elementTree(root, form).place(of: index)
        let value: DetachedValue
        if let link = try storedLink(place.leaf, place.row) {
            value = DetachedValue(.link(link.table, link.object))
        } else {
            value = DetachedValue(try place.leaf.value(place.row))
        }
        switch value.value {
        case .list, .dictionary:
            // A null in the place of the collection keeps it from being discarded with the element.
            let kept = LeafWriter(writes, .values(form.elements), inCluster: false)
            root = try writer.update(at: index, in: root) { leaf, row throws(StorageError) in
                try kept.set(.null, at: row, in: leaf)
            }
        default: break
        }
        root = try writer.erase(at: index, in: root)
        return value
    }
}
