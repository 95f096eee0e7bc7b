// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The shared state of all cursors of one pass over a file.
struct LegacyReading {
    /// The nodes of the file.
    let space: NodeSpace
    /// The limits of the pass; nil for single looks whose number is limited elsewhere.
    let budget: LegacyBudget?
    /// Keeps values that had to be copied.
    let keeper: LegacyKeeper

    /// The greatest number of elements of a leaf. Engines write 1000, and one more for the null marker; a node of width 0 can claim
    /// millions.
    static let maximumLeafCount = 65_537

    /// Begins a pass.
    init(_ space: NodeSpace) { self.init(space, LegacyBudget(space), LegacyKeeper(space.limit)) }

    /// Makes a pass of its parts.
    private init(_ space: NodeSpace, _ budget: LegacyBudget?, _ keeper: LegacyKeeper) {
        self.space = space
        self.budget = budget
        self.keeper = keeper
    }

    /// The same pass for look-ups at any position, which are counted themselves, and for what was counted before.
    var unlimited: LegacyReading { LegacyReading(space, nil, keeper) }

    /// The same pass with a keeper of its own, for values that are used up while others are kept.
    var nested: LegacyReading { LegacyReading(space, budget, LegacyKeeper(space.limit)) }

    /// A pass over what was read before, which keeps values where this one does.
    var anew: LegacyReading { LegacyReading(space, LegacyBudget(space), keeper) }

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

    /// How many values of an encrypted file are read first, before it is known how large they are.
    static let firstStep = 16

    /// Returns how many values are read next: fewer of an encrypted file where they are large, because the pages of a step are kept.
    ///
    /// - Parameters:
    ///   - step: How many were read last.
    ///   - before: How many bytes of decrypted pages there were before that.
    func step(after step: Int, _ greatest: Int, since before: Int) -> Int {
        let byteCount = space.decryptedByteCount - before
        guard byteCount > LegacyReading.keptByteCount / 4 else { return min(greatest, step * 2) }
        return max(1, min(greatest, Int(Double(step) * Double(LegacyReading.keptByteCount / 2) / Double(byteCount))))
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

/// Batches, which end early where many bytes would have to be kept.
extension LegacyReading {
    /// Reads a batch of values.
    ///
    /// - Parameters:
    ///   - count: How many values are read; one is always read.
    /// - Returns: Whether they may be kept together. Otherwise nothing is kept, and the caller goes back and reads fewer.
    func fits(_ count: Int, _ read: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
        let (rest, tableCount) = (budget?.rest, keeper.tableCount)
        (keeper.isBounded, keeper.isFull) = (count > 1, false)
        defer { keeper.isBounded = false }
        do throws(StorageError) {
            try read()
            return true
        } catch {
            guard count > 1, keeper.isFull else { throw error }
            if let rest { budget?.rest = rest }
            keeper.tableCount = tableCount
            keeper.release()
            return false
        }
    }

    /// Appends the next values of a source. Nothing that was read before is kept any more.
    ///
    /// - Parameters:
    ///   - limit: How many; fewer are appended at the end, and where many bytes have to be kept, but one at least.
    ///   - values: Receives them.
    func read(_ limit: Int, from source: inout any LegacySource, into values: inout [Value?]) throws(StorageError) {
        keeper.release()
        let (former, start) = (source, values.count)
        var count = limit
        while try !fits(count, { () throws(StorageError) in try source.read(count, into: &values) }) {
            source = former
            count = max(1, min(count / 2, values.count - start))
            values.removeSubrange(start...)
        }
    }

    /// Appends the next values of a source like `read`: first few, then as many more as the pages that they need permit.
    ///
    /// - Parameters:
    ///   - step: How many; afterwards how many the next call should read. It begins with `firstStep`.
    ///   - values: Receives them.
    func read(
        _ step: inout Int, upTo greatest: Int, from source: inout any LegacySource, into values: inout [Value?]
    ) throws(StorageError) {
        let (before, start) = (space.decryptedByteCount, values.count)
        try read(step, from: &source, into: &values)
        step = self.step(after: values.count - start, greatest, since: before)
    }
}
