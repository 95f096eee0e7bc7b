// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Building a whole index at once, which is faster than adding one object after the other.
extension SearchIndexWriter {
    /// Builds an index of all `entries` and returns its root.
    ///
    /// - Parameters:
    ///   - entries: The values with their objects, in any order, each object once.
    ///   - budget: Limits the time; `.stopped` is thrown when it is used up.
    /// - Throws: `.limit` for a tombstone, whose key cannot be stored.
    package func build(_ entries: [(value: Value, object: ObjectKey)], _ budget: WorkBudget? = nil) throws(StorageError) -> Ref {
        var sorted: [Entry] = []
        sorted.reserveCapacity(entries.count)
        for entry in entries {
            try budget?.spend(4)
            guard entry.object.rawValue >= 0 else { throw .limit("object key \(entry.object.rawValue) cannot be indexed") }
            sorted.append(Entry(entry.value, entry.object))
        }
        return try level(&sorted, offset: 0, budget)
    }

    /// Builds one level of the index from offset `offset` of the data on, and all levels below it; returns its root.
    func level(_ entries: inout [Entry], offset: Int, _ budget: WorkBudget? = nil) throws(StorageError) -> Ref {
        try budget?.spend(entries.count)
        var order = entries.indices.map { (key: entries[$0].data.key(at: offset), index: $0) }
        order.sort { $0.key != $1.key ? $0.key < $1.key : entries[$0.index].object < entries[$1.index].object }
        var slots: [(key: Int32, slot: IndexSlot)] = []
        var start = 0
        while start < order.count {
            var end = start + 1
            while end < order.count, order[end].key == order[start].key { end += 1 }
            var group = order[start..<end].map { entries[$0.index] }
            slots.append((order[start].key, try slot(of: &group, offset, budget)))
            start = end
        }
        return try tree.pack(slots)
    }

    /// Builds the entry for the entries of `group`, which share one key and ascend by object key.
    func slot(of group: inout [Entry], _ offset: Int, _ budget: WorkBudget?) throws(StorageError) -> IndexSlot {
        let first = group[0]
        if group.count == 1 { return .one(first.object) }
        let isUniform = group.allSatisfy { $0.data == first.data }
        if !isUniform, offset < IndexData.maximumOffset { return .subindex(try level(&group, offset: offset + 4, budget)) }
        if !isUniform || isMixed { group.sort { $0.order($1) < 0 } }
        return .list(try lists.make(group.map(\.object)))
    }
}
