// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changes single leaves of a cluster tree: the keys, and the values of all columns with them.
///
/// Keys are relative to the leaf's offset and ordered as unsigned numbers. The keys 0 to n - 1 are stored as the number n. Each
/// function returns the new ref of the leaf. Source: docs/format.md, "Cluster trees".
struct ClusterRows {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// All columns of the table, hidden ones included.
    let columns: [ClusterWriter.Column]

    /// Attaches the leaf at `ref` for reading, with relative keys; throws `.corrupt` for an inner node.
    func view(_ ref: Ref) throws(StorageError) -> ClusterLeaf {
        let node = try writes.node(at: ref)
        guard !node.isInner else { throw node.corrupt("an inner node where a cluster leaf belongs") }
        return try ClusterLeaf(node, writes.space, offset: 0)
    }

    /// Makes a leaf without objects that has an empty leaf for each column.
    func makeEmpty() throws(StorageError) -> Ref {
        let slots = 1 + (columns.map(\.leafIndex).max() ?? -1) + 1
        var node = try writes.makeNode(.refs, widthCode: 7, count: slots)
        try node.set(0, tagged: 0)
        for column in columns { try node.set(column.slot, try column.leaf.makeEmpty()) }
        return node.ref
    }

    // MARK: - Objects

    /// Inserts an object before the one in `row`, or after the last one.
    ///
    /// - Parameters:
    ///   - key: The relative key.
    ///   - row: The new row, `0...count`.
    ///   - leaf: The leaf, whose ref must not be used any more.
    ///   - values: A value per column; missing and nil ones are defaults.
    func insert(_ key: UInt64, at row: Int, in leaf: Ref, _ values: [Value?]) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let count = try insertKey(key, at: row, &node)
        for index in columns.indices {
            let column = columns[index]
            let old = try column.ref(in: node)
            try column.require(count, in: old)
            let value = index < values.count ? values[index] : nil
            let new =
                if let value {
                    try column.leaf.insert(value, at: row, in: old)
                } else {
                    try column.leaf.insertDefault(at: row, in: old)
                }
            if new != old { try node.set(column.slot, new) }
        }
        return node.ref
    }

    /// Adds objects after the last one.
    ///
    /// - Parameters:
    ///   - run: The objects, of which those in `range` are added.
    ///   - range: Positions in the run.
    ///   - offset: The offset of the leaf, which is subtracted from the keys.
    ///   - leaf: The leaf, whose ref must not be used any more.
    func append(_ run: ClusterRun, _ range: Range<Int>, offset: UInt64, to leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let count = try appendKeys(run.keys[range], offset, &node)
        for index in columns.indices {
            let column = columns[index]
            let old = try column.ref(in: node)
            try column.require(count, in: old)
            let values = index < run.columns.count ? run.columns[index][range] : ClusterRun.defaults(range.count)
            let new = try column.leaf.append(contentsOf: values, to: old)
            if new != old { try node.set(column.slot, new) }
        }
        return node.ref
    }

    /// Removes the object in `row` together with the collections below it.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let count = try eraseKey(row, &node)
        for column in columns {
            let old = try column.ref(in: node)
            try column.require(count, in: old)
            try column.discardCollections(row, in: old, writes)
            let new = try column.leaf.erase(row, in: old)
            if new != old { try node.set(column.slot, new) }
        }
        return node.ref
    }

    /// Moves the objects from `row` on to a new leaf, whose keys become relative to the first of them.
    ///
    /// - Returns: Both leaves, and the offset of the new one relative to the old one.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref, offset: UInt64) {
        var node = try writes.writable(leaf)
        var tail = try writes.makeNode(.refs, widthCode: 7, count: node.count)
        let offset = try splitKeys(row, &node, &tail)
        for column in columns {
            let parts = try column.leaf.split(try column.ref(in: node), at: row)
            try node.set(column.slot, parts.head)
            try tail.set(column.slot, parts.tail)
        }
        return (node.ref, tail.ref, offset)
    }

    /// Appends the objects of another leaf, whose nodes are discarded.
    ///
    /// - Parameters:
    ///   - leaf: The leaf that takes the objects.
    ///   - next: The leaf that follows it.
    ///   - delta: The offset of `next` minus that of `leaf`.
    func join(_ leaf: Ref, with next: Ref, delta: UInt64) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let moved = try view(next)
        let count = try view(leaf: node).count
        var keys = try writableKeys(&node)
        for row in 0..<moved.count {
            try keys.append(moved.key(at: row).rawValue &+ Int64(bitPattern: delta), .unsigned)
        }
        try node.set(0, keys.ref)
        for column in columns {
            let old = try column.ref(in: node)
            let other = try moved.node.requiredRef(column.slot, "a column")
            try column.require(count, in: old)
            try column.require(moved.count, in: other)
            try node.set(column.slot, try column.leaf.join(old, with: other))
        }
        try discardShell(moved.node)
        return node.ref
    }

    /// Adds `delta` to all relative keys of a leaf, whose offset became smaller by as much.
    func raiseKeys(_ leaf: Ref, by delta: UInt64) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        var keys = try writableKeys(&node)
        try keys.add(Int64(bitPattern: delta), to: 0..<keys.count, .unsigned)
        try node.set(0, keys.ref)
        return node.ref
    }

    // MARK: - Keys

    /// Attaches a leaf that is being changed for reading.
    private func view(leaf node: MutableNode) throws(StorageError) -> ClusterLeaf {
        try ClusterLeaf(node.node, writes.space, offset: 0)
    }

    /// Inserts a key and returns how many keys there were before.
    private func insertKey(_ key: UInt64, at row: Int, _ node: inout MutableNode) throws(StorageError) -> Int {
        let count = try view(leaf: node).count
        if row == count, key == UInt64(count), node.ref(0).isNone {
            try node.set(0, tagged: UInt64(count + 1))
            return count
        }
        var keys = try writableKeys(&node)
        try keys.insert(Int64(bitPattern: key), at: row, .unsigned)
        if keys.ref != node.ref(0) { try node.set(0, keys.ref) }
        return count
    }

    /// Adds keys, from which `offset` is subtracted, and returns how many keys there were before.
    private func appendKeys(
        _ keys: ArraySlice<UInt64>, _ offset: UInt64, _ node: inout MutableNode
    ) throws(StorageError) -> Int {
        let count = try view(leaf: node).count
        let relative = keys.map { Int64(bitPattern: $0 &- offset) }
        if node.ref(0).isNone, relative.indices.allSatisfy({ relative[$0] == Int64(count + $0) }) {
            try node.set(0, tagged: UInt64(count + relative.count))
            return count
        }
        var list = try writableKeys(&node)
        try list.append(contentsOf: relative, .unsigned)
        if list.ref != node.ref(0) { try node.set(0, list.ref) }
        return count
    }

    /// Removes the key in `row` and returns how many keys there were before.
    private func eraseKey(_ row: Int, _ node: inout MutableNode) throws(StorageError) -> Int {
        let count = try view(leaf: node).count
        if node.ref(0).isNone, row == count - 1 {
            try node.set(0, tagged: UInt64(count - 1))
            return count
        }
        var keys = try writableKeys(&node)
        keys.removeInteger(at: row)
        try node.set(0, keys.ref)
        return count
    }

    /// Moves the keys from `row` on to `tail`, where they are relative to the first of them.
    ///
    /// - Returns: The first of the moved keys, relative to the old leaf.
    private func splitKeys(
        _ row: Int, _ node: inout MutableNode, _ tail: inout MutableNode
    ) throws(StorageError) -> UInt64 {
        let leaf = try view(leaf: node)
        let relative = (row..<leaf.count).map { UInt64(bitPattern: leaf.key(at: $0).rawValue) }
        guard let first = relative.first else { throw leaf.node.corrupt("a cluster leaf is split behind its end") }
        let moved = relative.map { $0 &- first }
        if moved.indices.allSatisfy({ moved[$0] == UInt64($0) }) {
            try tail.set(0, tagged: UInt64(moved.count))
        } else {
            let keys = moved.map { Int64(bitPattern: $0) }
            try tail.set(0, try writes.makeIntegers(keys, .integers, .unsigned).ref)
        }
        if node.ref(0).isNone {
            try node.set(0, tagged: UInt64(row))
        } else {
            var keys = try writes.writable(node.ref(0))
            keys.removeIntegers(row..<keys.count)
            try node.set(0, keys.ref)
        }
        return first
    }

    /// Makes the keys a node of their own, which the leaf refers to from then on, and returns it.
    private func writableKeys(_ node: inout MutableNode) throws(StorageError) -> MutableNode {
        let old = node.ref(0)
        guard old.isNone else { return try writes.writable(old) }
        let count = try view(leaf: node).count
        let keys = try writes.makeIntegers((0..<count).map(Int64.init), .integers, .unsigned)
        try node.set(0, keys.ref)
        return keys
    }

    /// Discards the node and the keys of a leaf whose columns were moved to another one.
    private func discardShell(_ node: Node) throws(StorageError) {
        let keys = try node.slot(0)
        if case .ref(let ref) = keys { try writes.discard(ref) }
        writes.discard(node)
    }
}
