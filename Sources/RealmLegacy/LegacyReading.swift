// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What all cursors of one pass over a file share.
struct LegacyReading {
    /// The nodes of the file.
    let space: NodeSpace
    /// What the pass may read; nil for single looks whose number others limit.
    let budget: LegacyBudget?
    /// Keeps values that had to be copied.
    let keeper: LegacyKeeper

    /// The greatest number of elements of a leaf. Engines write 1000, and one more for the null marker; a node of width 0 can claim
    /// millions.
    static let maximumLeafCount = 65_537

    /// Begins a pass.
    init(_ space: NodeSpace) { self.init(space, LegacyBudget(space), LegacyKeeper()) }

    /// Makes a pass of its parts.
    private init(_ space: NodeSpace, _ budget: LegacyBudget?, _ keeper: LegacyKeeper) {
        self.space = space
        self.budget = budget
        self.keeper = keeper
    }

    /// The same pass for look-ups at any position, whose number is that of the values that need them.
    var unlimited: LegacyReading { LegacyReading(space, nil, keeper) }

    /// How many bytes of decrypted pages are kept.
    static let keptByteCount = 16 << 20

    /// Gives back the memory of decrypted pages when it is much.
    ///
    /// - Returns: Whether that was done. Cursors have to be renewed then, and views must not be read any more.
    func relieve() -> Bool {
        guard space.decryptedByteCount > LegacyReading.keptByteCount else { return false }
        space.forgetPages()
        return true
    }

    /// Has a node decrypted again that was read before.
    func renew(_ ref: Ref) throws(StorageError) { _ = try space.node(at: ref) }

    /// Returns the node at a ref, which counts as read.
    func node(at ref: Ref) throws(StorageError) -> Node {
        let node = try space.node(at: ref)
        try budget?.spend(node)
        return node
    }

    /// Returns the node with refs at a ref, which is no inner node.
    func refs(at ref: Ref, _ what: String) throws(StorageError) -> Node {
        let node = try node(at: ref)
        guard node.hasRefs, !node.isInner else { throw node.corrupt("\(what): a node with refs expected") }
        return node
    }

    /// Returns the elements of a leaf of numbers or refs.
    func integers(of node: Node) throws(StorageError) -> PackedIntegers {
        guard !node.isInner else { throw node.corrupt("a leaf of integers expected") }
        return try node.integers()
    }

    /// Returns the elements of the leaf of numbers at a ref.
    func integers(at ref: Ref) throws(StorageError) -> PackedIntegers { try integers(of: try node(at: ref)) }
}
