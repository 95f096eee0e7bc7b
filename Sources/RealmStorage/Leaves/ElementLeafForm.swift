// SPDX-License-Identifier: Apache-2.0

/// Leaves of one node with an element for each row.
///
/// Such leaves have one element per value and nothing beside it, so erasing and splitting are the same for all of them.
protocol ElementLeafForm: LeafForm {
    /// The node of a leaf, checked, ready to be changed.
    func writable(_ leaf: Ref) throws(StorageError) -> MutableNode
}

/// What such leaves share, however large their elements are.
extension ElementLeafForm {
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        try node.requireRow(row)
        try node.replaceElements(at: row, removing: 1, inserting: 0)
        return node.ref
    }

    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count + 1)
        let tail = try writes.splitElements(&node, at: row)
        return (node.ref, tail)
    }
}
