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
        guard row >= 0, row < limit else { throw node.corrupt("row \(row) of a leaf of \(limit) values") }
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
        try writable(ref, flags: 0, "integer leaf expected")
    }

    /// A leaf with refs, ready to be changed.
    func writableRefs(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref, flags: 0x40, "a leaf with refs expected")
    }

    /// A node of whole-byte elements, ready to be changed.
    func writableElements(_ ref: Ref) throws(StorageError) -> MutableNode {
        try writable(ref, flags: 0x08, "a leaf of whole-byte elements expected")
    }

    private func writable(_ ref: Ref, flags: UInt8, _ reason: StaticString) throws(StorageError) -> MutableNode {
        let node = try writable(ref)
        guard node.flags & 0xd8 == flags else { throw node.node.corrupt("\(reason)") }
        guard node.width > 0 || node.count <= NodeSpace.maximumEmptyCount else { throw NodeSpace.emptyNode(ref) }
        return node
    }

    /// Reads a node of plain integers.
    func integerNode(_ ref: Ref) throws(StorageError) -> Node {
        let node = try node(at: ref)
        guard node.flags & 0xd8 == 0 else { throw node.corrupt("integer leaf expected") }
        guard node.width > 0 || node.count <= NodeSpace.maximumEmptyCount else { throw NodeSpace.emptyNode(ref) }
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
