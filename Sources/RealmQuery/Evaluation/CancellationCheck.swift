// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Stops a query between and within objects when its caller asks for it, and limits the values that it holds.
///
/// The steps of a query are counted, and after every 4096 of them the caller's check is called. It has to be possible within
/// one object, too: a path through several to-many links, or through nested collections, can reach any number of objects, and
/// comparing two long texts takes long. One check belongs to one bound query and is used by its thread alone.
final class CancellationCheck {
    /// A callback that returns whether the query may continue. It is called often, so it should be quick.
    typealias Check = () -> Bool

    /// The callback that decides whether to continue; nil while nothing limits the query.
    private(set) var check: Check?
    /// The number of values that may be held at once: to sort by, to find distinct ones, or to be compared with others.
    var valueLimit = Int.max { didSet { holdLimit = valueLimit } }
    /// The maximum number of values for `hold`: `valueLimit` if it was set, otherwise as many as fit into 64 MiB.
    private(set) var holdLimit = (64 << 20) / CancellationCheck.bytesPerValue
    /// The number of values that the operands, the conditions and the groups of the query hold at present, all of them together.
    private var heldCount = 0
    /// The memory of groups of values that no comparison uses at the moment. The comparisons of a query take it in turns, so it does not
    /// grow with their number.
    var spareGroups: [(values: [Value], ends: [Int])] = []
    /// The memory of object keys that no operand uses at the moment.
    var spareKeys: [[ObjectKey]] = []
    /// The number of leaves that all readers of linked objects together may still keep: about 50 MiB at first.
    private var leavesLeft = 1 << 18
    /// The number of bits that all paths of the query together may still keep for objects of linked classes: 64 MiB at first.
    private var bitsLeft = 1 << 29
    /// Whether the check refused within a comparison that cannot throw. The result of that comparison is meaningless, and the
    /// next step throws.
    private(set) var isStopped = false
    /// The number of steps that may still be taken before the check is called again.
    private var stepsUntilCheck = CancellationCheck.stepsPerCheck

    /// The number of steps of a query between two calls of the check.
    private static let stepsPerCheck = 4096
    /// The number of values after which a buffer counts them.
    static let valuesPerCount = 4096
    /// The bytes of memory that count as one value, where something else than values is held.
    static let bytesPerValue = 32
    /// The number of steps to count for a piece of work that is long enough to justify a separate call of the check.
    static let stepsOfLongWork = stepsPerCheck
    /// The binary logarithm of the bytes of text that are compared in about the time of one step: 256 bytes.
    private static let bytesPerStepShift = 8

    /// The error that stops a query. It is thrown through the layers that know storage errors only;
    /// the function `storage` converts it to `QueryError.cancelled`.
    static let error = StorageError.stopped(.expired)

    /// Counts steps: objects or values that were reached.
    ///
    /// - Throws: `CancellationCheck.error` when the check was called and refused.
    @inline(__always) func step(_ count: Int = 1) throws(StorageError) {
        stepsUntilCheck &-= count
        if stepsUntilCheck <= 0 { try ask() }
    }

    /// Counts the steps that reading or comparing one value takes; more for a long text.
    @inline(__always) func step(for value: Value) throws(StorageError) {
        try step(1 &+ value.byteCount &>> CancellationCheck.bytesPerStepShift)
    }

    /// Counts the steps that comparing two values takes.
    @inline(__always) func step(for left: Value, and right: Value) throws(StorageError) {
        try step(1 &+ (left.byteCount &+ right.byteCount) &>> CancellationCheck.bytesPerStepShift)
    }

    /// Calls the check of the caller, and throws when it refuses to continue.
    @inline(never) private func ask() throws(StorageError) {
        stepsUntilCheck = CancellationCheck.stepsPerCheck
        if let check, !check() { isStopped = true }
        try requireGoingOn()
    }

    /// Counts the steps of a comparison inside of a sort, which cannot throw.
    ///
    /// - Parameter value: One of the two values that are compared.
    /// - Returns: False when the query has to stop. The sort then finishes quickly with a
    ///   meaningless order, and the caller must call `requireGoingOn` afterwards.
    @inline(__always) func continues(comparing value: Value) -> Bool {
        continues(1 &+ value.byteCount &>> CancellationCheck.bytesPerStepShift)
    }

    /// Counts steps in code that cannot throw.
    ///
    /// - Parameter count: The number of steps.
    /// - Returns: False when the query has to stop; then `requireGoingOn` must be called
    ///   afterwards.
    @inline(__always) func continues(_ count: Int) -> Bool {
        stepsUntilCheck &-= count
        return stepsUntilCheck > 0 || asksToContinue()
    }

    /// Calls the check of the caller, and returns whether the query may continue. When the check has refused once, it is not
    /// called again and the result remains false.
    @inline(never) private func asksToContinue() -> Bool {
        stepsUntilCheck = isStopped ? 0 : CancellationCheck.stepsPerCheck
        if !isStopped, let check, !check() { isStopped = true }
        return !isStopped
    }

    /// Throws `CancellationCheck.error` when a preceding `continues` returned false.
    func requireGoingOn() throws(StorageError) {
        if isStopped { throw CancellationCheck.error }
    }

    /// Takes room for bits, one for each object of a linked class.
    ///
    /// - Returns: Whether there was room for them.
    func takesBits(_ count: Int) -> Bool {
        guard count <= bitsLeft else { return false }
        bitsLeft -= count
        return true
    }

    /// Takes room for leaves that a reader of linked objects keeps.
    ///
    /// - Returns: Whether there was room for them.
    func takesLeaves(_ count: Int) -> Bool {
        guard count <= leavesLeft else { return false }
        leavesLeft -= count
        return true
    }

    /// Leaves this check, which belongs to a helper of a query, a share of what the query may keep. The thread of the query keeps the
    /// whole limit.
    ///
    /// - Parameters:
    ///   - count: The number of shares: of the helpers, and one more.
    ///   - limit: The number of values that the query may hold.
    func limitToShare(of count: Int, holding limit: Int) {
        valueLimit = limit / count
        bitsLeft /= count
        leavesLeft /= count
    }

    /// Throws when more values are held than `valueLimit` allows.
    ///
    /// - Parameter count: The number of values that are held.
    /// - Throws: `StorageError.stopped` with the limit, which callers report as a problem of its
    ///   own.
    func require(valueCount count: Int) throws(StorageError) {
        if count > valueLimit { throw .stopped(.tooManyValues(limit: valueLimit)) }
    }

    /// Counts values that an operand begins to hold.
    ///
    /// - Parameter count: The number of values, which `release` gives back.
    /// - Throws: `StorageError.stopped` with the limit when the operands of the query together hold more values than `valueLimit` allows.
    ///   Nothing is counted then.
    func hold(_ count: Int) throws(StorageError) {
        guard count <= holdLimit - heldCount else { throw .stopped(.tooManyValues(limit: holdLimit)) }
        heldCount += count
    }

    /// Counts memory that a condition keeps for as long as the query lives.
    ///
    /// - Throws: `StorageError.stopped` with the limit of values, of which every 32 bytes are one.
    func keep(byteCount: Int) throws(StorageError) { try hold(1 + byteCount / CancellationCheck.bytesPerValue) }

    /// Gives back values that `hold` has counted.
    func release(_ count: Int) { heldCount -= count }

    /// Runs a closure and lets a check stop it.
    ///
    /// - Parameters:
    ///   - check: The callback that decides whether to continue. Nil keeps the check of an enclosing call, if there is one.
    ///   - body: The work that counts its steps.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`.
    func watching<Result, Failure: Error>(
        _ check: Check?, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outer = self.check
        self.check = check ?? outer
        if outer == nil { isStopped = false }
        defer { self.check = outer }
        return try body()
    }
}

extension CancellationCheck {
    /// Returns values in ascending total order.
    ///
    /// - Throws: `CancellationCheck.error` when the query has to stop while the values are sorted.
    /// - Complexity: O(n log n).
    func sorted(_ values: some Sequence<Value>) throws(StorageError) -> [Value] {
        let sorted = values.sorted { continues(comparing: $0) && Value.order($0, $1) < 0 }
        try requireGoingOn()
        return sorted
    }
}
