// SPDX-License-Identifier: Apache-2.0

/// The nodes of a write transaction: those of the version it started from, and new ones in memory.
///
/// Trees are persistent values here: a change to a tree returns the ref of its new root. A committed node is copied
/// before it changes; a node of this transaction changes in place, unless it is older than the newest savepoint.
/// Nothing of the file changes before the commit, and a transaction that is dropped leaves no trace.
///
/// Used by one thread at a time.
package final class WriteSpace {
    /// Reads committed and new nodes alike.
    package let space: NodeSpace
    /// The memory of new nodes, which must outlive this object.
    package let arena: NodeArena
    /// Committed nodes that the new version no longer uses.
    package private(set) var freed: [FreedBlock] = []

    /// A node of the committed version that nothing refers to any more.
    package struct FreedBlock: Sendable, Equatable {
        /// Where the node was.
        package let ref: Ref
        /// How many bytes of the file it took.
        package let byteCount: Int
    }

    /// The nodes of `base` and the empty `arena`, both of which must outlive this object.
    package init(base: NodeSpace, arena: NodeArena) {
        self.arena = arena
        space = base.with(arena: arena)
    }

    // MARK: - Reading

    /// The node at `ref`, committed or new.
    package func node(at ref: Ref) throws(StorageError) -> Node { try space.node(at: ref) }

    /// Whether `ref` names a node that is not in the file.
    package static func isNew(_ ref: Ref) -> Bool { ref.rawValue >= NodeArena.firstRef }

    // MARK: - Making and changing nodes

    /// A new node of `count` elements, all zero bits, with room for `capacity` payload bytes.
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

    /// The node at `ref`, ready to be changed: itself when it is of this transaction, else a copy.
    ///
    /// The copy replaces the node: the old one counts as freed. Put the `ref` of the result where the old ref was.
    package func writable(_ ref: Ref) throws(StorageError) -> MutableNode {
        if arena.isYoung(ref) {
            let node = try arena.node(at: ref)
            return unsafe MutableNode(space: self, ref: ref, header: UnsafeMutableRawPointer(mutating: node.payload - 8))
        }
        let node = try space.node(at: ref)
        // A node with refs widens as soon as a new ref enters it.
        let capacity = node.hasRefs ? (node.count + 1) * 8 : node.payloadByteCount + 8
        let block = try unsafe arena.allocate(byteCount: 8 + max(capacity, node.byteCount - 8) + 7)
        var copy = unsafe MutableNode(space: self, ref: block.ref, header: block.address)
        if node.hasRefs, node.width >= 8 { copy.initialize(wideCopyOf: node) } else { copy.initialize(copyOf: node) }
        discard(node)
        return copy
    }

    // MARK: - Dropping nodes

    /// Gives up one node, not what it refers to.
    package func discard(_ node: Node) {
        if !WriteSpace.isNew(node.ref) {
            freed.append(FreedBlock(ref: node.ref, byteCount: node.byteCount))
        } else if arena.isYoung(node.ref) {
            arena.release(node.ref, byteCount: Int(UInt32(truncatingIfNeeded: node.header)) << 3)
        }
    }

    /// Gives up the node at `ref`, not what it refers to.
    package func discard(_ ref: Ref) throws(StorageError) { discard(try space.node(at: ref)) }

    /// Gives up a node and everything below it; `Ref.none` is nothing.
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

    /// What a transaction returns to when a part of it fails.
    package struct Savepoint: Sendable {
        /// How many committed nodes had been given up.
        fileprivate let freedCount: Int
        /// How far the arena was filled.
        fileprivate let end: Int
    }

    /// Remembers the present state: nodes made so far are copied from now on before they change.
    package func savepoint() -> Savepoint {
        let end = arena.used
        arena.makeMark()
        return Savepoint(freedCount: freed.count, end: end)
    }

    /// Undoes what happened since `savepoint`; the caller goes back to the roots it had then.
    package func rollBack(to savepoint: Savepoint) {
        freed.removeSubrange(savepoint.freedCount...)
        arena.restore(end: savepoint.end, mark: savepoint.end)
    }
}
