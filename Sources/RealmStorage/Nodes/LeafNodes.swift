// SPDX-License-Identifier: Apache-2.0

/// Checks of rows that come from files.
extension Node {
    /// Throws `.corrupt` unless `row` is one of the node's elements.
    func requireRow(_ row: Int) throws(StorageError) { try requireRow(row, below: count) }

    /// Throws `.corrupt` unless `row` is in `0..<limit`.
    func requireRow(_ row: Int, below limit: Int) throws(StorageError) {
        guard row >= 0, row < limit else { throw corrupt("row \(row) of a leaf of \(limit) values") }
    }
}

/// Checks of rows, and changes that several leaf forms need.
extension MutableNode {
    /// Throws `.corrupt` unless `row` is one of the node's elements.
    func requireRow(_ row: Int) throws(StorageError) { try requireRow(row, below: count) }

    /// Throws `.corrupt` unless `row` is in `0..<limit`.
    func requireRow(_ row: Int, below limit: Int) throws(StorageError) {
        try node.requireRow(row, below: limit)
    }

    /// Stores `ref` in a slot unless it is there already.
    mutating func update(_ slot: Int, _ ref: Ref) throws(StorageError) {
        if UInt64(bitPattern: integer(slot)) != ref.rawValue { try set(slot, ref) }
    }

    /// Removes the integers from `index` on.
    mutating func truncateIntegers(to index: Int) { removeIntegers(index..<count) }
}

/// Opening leaves for changes, in the form that the caller expects.
extension WriteSpace {
    /// A node of plain integers, ready to be changed.
    func writableIntegers(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref) { (node) throws(StorageError) in try node.requirePlainIntegers() }
    }

    /// A leaf with refs, ready to be changed.
    func writableRefs(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref) { (node) throws(StorageError) in try node.requireLeafOfRefs() }
    }

    /// A node of whole-byte elements, ready to be changed.
    func writableElements(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref) { (node) throws(StorageError) in try node.requireWholeByteElements() }
    }

    /// A node ready to be changed, if it has the wanted form.
    @inline(__always)
    private func writable(
        _ ref: Ref, _ requireForm: (Node) throws(StorageError) -> Void
    ) throws(StorageError) -> MutableNode {
        let node = try writable(ref)
        try requireForm(node.node)
        return node
    }

    /// Reads a node of plain integers.
    func integerNode(_ ref: Ref) throws(StorageError) -> Node {
        let node = try node(at: ref)
        try node.requirePlainIntegers()
        return node
    }

    /// A new node with the elements of `node` from `index` on, in the same width, after `front` zeros.
    func makeTail(of node: MutableNode, from index: Int, front: Int = 0) throws(StorageError) -> MutableNode {
        let moved = node.count - index
        var tail = try makeNode(node.hasRefs ? .refs : .integers, widthCode: node.widthCode, count: front + moved)
        tail.setContext(node.hasRefs && node.hasContext)
        for offset in 0..<moved { try tail.set(front + offset, node.integer(index + offset)) }
        return tail
    }
}
