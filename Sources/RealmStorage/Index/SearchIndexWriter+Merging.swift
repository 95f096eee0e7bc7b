// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Adding many objects to an index at once: they are sorted, so that each node is written once.
extension SearchIndexWriter {
    /// Adds new objects and returns the new root.
    ///
    /// - Parameters:
    ///   - entries: The values with their objects, in ascending order of the objects. None of these is in the index.
    ///   - root: The root of the index, which must not be used any more.
    /// - Throws: `.limit` for a tombstone, whose key cannot be stored; `.corrupt` for an index that contradicts the values it
    ///   was built from.
    package func insert(_ entries: [(value: Value, object: ObjectKey)], into root: Ref) throws(StorageError) -> Ref {
        guard !entries.isEmpty else { return root }
        var sorted: [Entry] = []
        sorted.reserveCapacity(entries.count)
        for entry in entries {
            guard entry.object.rawValue >= 0 else { throw .limit("object key \(entry.object.rawValue) cannot be indexed") }
            sorted.append(Entry(entry.value, entry.object))
        }
        return try merge(sorted, root, offset: 0)
    }

    /// Adds entries, in ascending order of their objects, below the level at `root`, whose keys are those of the data at `offset`.
    private func merge(_ entries: [Entry], _ root: Ref, offset: Int) throws(StorageError) -> Ref {
        let groups = SearchIndexWriter.KeyGroups(entries.map { $0.data.key(at: offset) })
        return try tree.merge(root, groups.keys) { (position, slot) throws(StorageError) in
            let members = groups.members(position)
            if members.count == 1 { return try insert(entries[Int(members[members.startIndex])], at: slot, offset) }
            var group: [Entry] = members.map { entries[Int($0)] }
            return try merge(&group, into: slot, offset)
        }
    }

    /// Returns the entry for what is filed under a key together with new entries.
    private func merge(_ group: inout [Entry], into slot: IndexSlot, _ offset: Int) throws(StorageError) -> IndexSlot {
        switch slot {
        case .absent: return try self.slot(of: &group, offset, nil)
        case .subindex(let root):
            guard offset < IndexData.maximumOffset else { throw SearchIndexWriter.tooDeep(root) }
            return .subindex(try merge(group, root, offset: offset + 4))
        case .list(let list):
            if try appends(group, to: list, offset) { return .list(try lists.append(group.map(\.object), to: list)) }
        case .one: break
        }
        var slot = slot
        for entry in group { slot = try insert(entry, at: slot, offset) }
        return slot
    }

    /// Returns whether all entries of a group have the value of a list, and come after its objects.
    private func appends(_ group: [Entry], to list: Ref, _ offset: Int) throws(StorageError) -> Bool {
        guard !isMixed, offset < IndexData.maximumOffset else { return false }
        let keys = try KeyList(list, writes.space)
        guard try keys.key(keys.count - 1) < group[0].object else { return false }
        let data = IndexData(try valueOf(try keys.key(0)))
        return group.allSatisfy { $0.data == data }
    }
}

extension SearchIndexWriter {
    /// Positions in a list of keys, by key: the distinct keys in ascending order, each with its positions in ascending order.
    struct KeyGroups {
        /// The distinct keys, ascending.
        private(set) var keys: [Int32] = []
        /// The position in `order` at which the positions of each key begin, and the end of the last.
        private var starts: [Int] = []
        /// All positions, ordered by key.
        private let order: [UInt64]

        /// Sorts the keys; there are fewer than 2³² of them.
        init(_ list: [Int32]) {
            // Key and position in one number, which is sorted much faster than a pair.
            var order = list.indices.map { UInt64(UInt32(bitPattern: list[$0]) ^ 0x8000_0000) << 32 | UInt64($0) }
            order.sort()
            for index in order.indices {
                let key = Int32(bitPattern: UInt32(truncatingIfNeeded: order[index] >> 32) ^ 0x8000_0000)
                if key == keys.last { continue }
                keys.append(key)
                starts.append(index)
            }
            starts.append(order.count)
            self.order = order
        }

        /// The positions of the key at `index` in `keys`.
        func members(_ index: Int) -> LazyMapSequence<ArraySlice<UInt64>, UInt32> {
            order[starts[index]..<starts[index + 1]].lazy.map { UInt32(truncatingIfNeeded: $0) }
        }
    }
}
