// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The nodes of a write transaction: those of the version it started from, and new ones in memory.
///
/// Trees are persistent values here: a change to a tree returns the ref of its new root. A committed node is copied before it
/// changes; a node of this transaction changes in place, unless it is older than the newest savepoint. Nothing of the file
/// changes before the commit, and a transaction that is dropped leaves no trace.
///
/// It is used by one thread at a time.
package final class WriteSpace {
    /// The space in which committed and new nodes are read alike.
    package let space: NodeSpace
    /// The memory of new nodes, which must outlive this object.
    package let arena: NodeArena
    /// Whether values beyond 16 MiB are split over several nodes, as in files that other engines wrote; otherwise they are
    /// refused.
    package var splitsLongValues = false
    /// The committed nodes that the new version does not use.
    package private(set) var freed: [FreedBlock] = []
    /// How many times changes were undone.
    private(set) var rollBackCount = 0

    /// A node of the committed version that nothing in the new version refers to.
    package struct FreedBlock: Sendable, Equatable {
        /// The place of the node in the file.
        package let ref: Ref
        /// The size of the node in bytes.
        package let byteCount: Int
    }

    /// Makes a space of the nodes of `base` and the empty `arena`, both of which must outlive this object.
    package init(base: NodeSpace, arena: NodeArena) {
        self.arena = arena
        space = base.with(arena: arena)
    }

    // MARK: - Reading

    /// Returns the node at `ref`, committed or new; throws `.corrupt` when there is none.
    package func node(at ref: Ref) throws(StorageError) -> Node { try space.node(at: ref) }

    /// Returns whether `ref` names a node that is not in the file.
    package static func isNew(_ ref: Ref) -> Bool { ref.rawValue >= NodeArena.firstRef }

    // MARK: - Making and changing nodes

    /// Makes a node whose elements are all zero bits.
    ///
    /// - Parameters:
    ///   - kind: The kind of node, which decides its flags.
    ///   - widthCode: The code of the width, 0 to 7.
    ///   - count: How many elements it has.
    ///   - capacity: For how many bytes of payload there is room at least.
    /// - Throws: `.limit` when the transaction has changed too much.
    package func makeNode(
        _ kind: NodeKind, widthCode: Int = 0, count: Int = 0, capacity: Int = 0
    ) throws(StorageError) -> MutableNode {
        let flags = kind.flags | UInt8(widthCode)
        let payload = NodeLayout.payloadByteCount(flags: flags, count: count)
        let block = try unsafe arena.allocate(byteCount: 8 + max(payload, capacity) + 7)
        var node = unsafe MutableNode(space: self, ref: block.ref, header: block.address)
        node.initialize(flags: flags, count: count)
        return node
    }

    /// Makes the node at `ref` ready to be changed: it is copied unless it is a node of this transaction that may change.
    ///
    /// A copy replaces the node: the old one counts as freed. Store the `ref` of the result where the old ref was.
    ///
    /// - Throws: `.corrupt` when there is no node, `.limit` when the transaction has changed too
    ///   much.
    package func writable(_ ref: Ref) throws(StorageError) -> MutableNode {
        if arena.isYoung(ref) {
            let node = try arena.node(at: ref)
            return unsafe MutableNode(space: self, ref: ref, header: UnsafeMutableRawPointer(mutating: node.payload - 8))
        }
        let node = try space.node(at: ref)
        // A node with refs becomes wider as soon as a new ref is stored in it.
        let capacity = node.hasRefs ? (node.count + 1) * 8 : node.payloadByteCount + 8
        let block = try unsafe arena.allocate(byteCount: 8 + max(capacity, node.byteCount - 8) + 7)
        var copy = unsafe MutableNode(space: self, ref: block.ref, header: block.address)
        if node.hasRefs, node.width >= 8 { copy.initialize(wideCopyOf: node) } else { copy.initialize(copyOf: node) }
        discard(node)
        return copy
    }

    // MARK: - Dropping nodes

    /// Discards one node, but not the nodes that it refers to.
    package func discard(_ node: Node) {
        if !WriteSpace.isNew(node.ref) {
            freed.append(FreedBlock(ref: node.ref, byteCount: node.byteCount))
        } else if arena.isYoung(node.ref) {
            arena.release(node.ref, byteCount: Int(UInt32(truncatingIfNeeded: node.header)) << 3)
        }
    }

    /// Discards the node at `ref`, but not the nodes that it refers to.
    package func discard(_ ref: Ref) throws(StorageError) { discard(try space.node(at: ref)) }

    /// Discards a node and everything below it; a no-op for `Ref.none`.
    ///
    /// - Throws: `.corrupt` for nodes that cannot be read, or that refer to each other in a circle.
    package func discardTree(_ root: Ref) throws(StorageError) {
        guard !root.isNone else { return }
        var pending = PendingRefs(space)
        try pending.add(root)
        while let ref = pending.next() {
            let node = try space.node(at: ref)
            try pending.addChildren(of: node)
            discard(node)
        }
    }

    // MARK: - Savepoints

    /// A state of the transaction to which it can be rolled back when a part of it fails.
    package struct Savepoint: Sendable {
        /// The number of discarded committed nodes at the savepoint.
        fileprivate let freedCount: Int
        /// The number of used bytes of the arena at the savepoint.
        fileprivate let end: Int
    }

    /// Returns the present state; nodes made so far are copied from then on before they change.
    package func savepoint() -> Savepoint {
        let end = arena.used
        arena.makeMark()
        return Savepoint(freedCount: freed.count, end: end)
    }

    /// Undoes all changes since `savepoint`; the caller restores the roots that it had then.
    package func rollBack(to savepoint: Savepoint) {
        rollBackCount += 1
        freed.removeSubrange(savepoint.freedCount...)
        arena.restore(to: savepoint.end)
    }
}
