// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Checks of rows that come from files, in committed nodes.
extension Node {
    /// Throws `.corrupt` unless the node has an element at `row`.
    func requireRow(_ row: Int) throws(StorageError) { try requireRow(row, below: count) }

    /// Throws `.corrupt` unless `row` is in `0..<limit`.
    func requireRow(_ row: Int, below limit: Int) throws(StorageError) {
        guard row >= 0, row < limit else { throw corrupt("row \(row) of a leaf of \(limit) values") }
    }
}

/// Checks of rows, and changes that several leaf forms need, in nodes of a transaction.
extension MutableNode {
    /// Throws `.corrupt` unless the node has an element at `row`.
    func requireRow(_ row: Int) throws(StorageError) { try requireRow(row, below: count) }

    /// Throws `.corrupt` unless `row` is in `0..<limit`.
    func requireRow(_ row: Int, below limit: Int) throws(StorageError) {
        try node.requireRow(row, below: limit)
    }

    /// Stores `ref` in a slot unless the slot has it already.
    mutating func update(_ slot: Int, _ ref: Ref) throws(StorageError) {
        if UInt64(bitPattern: integer(slot)) != ref.rawValue { try set(slot, ref) }
    }

    /// Removes the integers from `index` to the end.
    mutating func truncateIntegers(to index: Int) { removeIntegers(index..<count) }
}

/// Access to leaves for changes, in the form that the caller expects.
extension WriteSpace {
    /// Makes a node of plain integers ready to be changed; throws `.corrupt` for another form.
    func writableIntegers(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref) { (node) throws(StorageError) in try node.requirePlainIntegers() }
    }

    /// Makes a leaf with refs ready to be changed; throws `.corrupt` for another form.
    func writableRefs(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref) { (node) throws(StorageError) in try node.requireLeafOfRefs() }
    }

    /// Makes a node of whole-byte elements ready to be changed; throws `.corrupt` for another form.
    func writableElements(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref) { (node) throws(StorageError) in try node.requireWholeByteElements() }
    }

    /// Makes a node ready to be changed, and checks its form.
    @inline(__always)
    private func writable(
        _ ref: Ref, _ requireForm: (Node) throws(StorageError) -> Void
    ) throws(StorageError) -> MutableNode {
        let node = try writable(ref)
        try requireForm(node.node)
        return node
    }

    /// Returns a node of plain integers for reading; throws `.corrupt` for another form.
    func integerNode(_ ref: Ref) throws(StorageError) -> Node {
        let node = try node(at: ref)
        try node.requirePlainIntegers()
        return node
    }

    /// Makes a node with the elements of `node` from `index` on, in the same width, after `front` zeros. `node` is not changed.
    func makeTail(of node: MutableNode, from index: Int, front: Int = 0) throws(StorageError) -> MutableNode {
        let moved = node.count - index
        var tail = try makeNode(node.hasRefs ? .refs : .integers, widthCode: node.widthCode, count: front + moved)
        tail.setContext(node.hasRefs && node.hasContext)
        for offset in 0..<moved { try tail.set(front + offset, node.integer(index + offset)) }
        return tail
    }
}
