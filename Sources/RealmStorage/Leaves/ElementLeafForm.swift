// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf form of one node with one element per value and nothing else, such as reals and decimals.
///
/// Erasing and splitting are the same for all of these, so an extension has them.
protocol ElementLeafForm: LeafForm {
    /// Makes the node of a leaf ready to be changed, after checking its shape.
    ///
    /// - Returns: The node, copied into the memory of the transaction if it was committed.
    /// - Throws: `.corrupt` when it is not a leaf of this form.
    func writable(_ leaf: Ref) throws(StorageError) -> MutableNode
}

/// Erasing and splitting, which do not depend on the size of the elements.
extension ElementLeafForm {
    /// Removes the element in `row` and moves the later ones down.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        try node.requireRow(row)
        try node.replaceElements(at: row, removing: 1, inserting: 0)
        return node.ref
    }

    /// Moves the elements from `row` on to a new node of the same width and flags.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count + 1)
        let tail = try writes.splitElements(&node, at: row)
        return (node.ref, tail)
    }
}
