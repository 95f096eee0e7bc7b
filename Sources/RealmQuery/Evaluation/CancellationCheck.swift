// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Lets a caller stop a query within one object, too: a path through several to-many links, or through nested
/// collections, can reach more objects than anybody wants to wait for, and one comparison can take long texts.
final class CancellationCheck {
    /// Is asked from time to time whether to go on.
    typealias Check = () -> Bool

    /// Asked every so many steps whether to go on; nil never stops.
    private(set) var check: Check?
    /// Values that may be held at once: to sort by, to tell rows apart by, to be compared with others.
    var valueLimit = Int.max
    /// Whether `goesOn` said no: then what it was asked for is worth nothing, and the next step throws.
    private(set) var isStopped = false
    private var stepsUntilCheck = CancellationCheck.stepsPerCheck

    private static let stepsPerCheck = 4096
    /// What is worth a question by itself.
    static let stepsOfLongWork = stepsPerCheck
    /// Bytes of text that are compared in about the time of a step.
    private static let bytesPerStepShift = 8

    /// Thrown through the layers that know storage errors only; `storage` turns it into `.cancelled`.
    static let error = StorageError.stopped(.expired)

    /// One more object or value was reached, or `count` of them.
    @inline(__always) func step(_ count: Int = 1) throws(StorageError) {
        stepsUntilCheck &-= count
        if stepsUntilCheck <= 0 { try ask() }
    }

    /// A value is about to be looked at, which takes longer for a long text.
    @inline(__always) func step(for value: Value) throws(StorageError) {
        try step(1 &+ value.byteCount &>> CancellationCheck.bytesPerStepShift)
    }

    /// Two values are about to be compared.
    @inline(__always) func step(for left: Value, and right: Value) throws(StorageError) {
        try step(1 &+ (left.byteCount &+ right.byteCount) &>> CancellationCheck.bytesPerStepShift)
    }

    /// Asks whether to go on, and throws when the answer is no.
    @inline(never) private func ask() throws(StorageError) {
        stepsUntilCheck = CancellationCheck.stepsPerCheck
        if let check, !check() { isStopped = true }
        try requireGoingOn()
    }

    /// For comparisons inside of a sort, which cannot throw: false when the sort is to come to its end as it may.
    /// `requireGoingOn` has to follow.
    @inline(__always) func goesOn(comparing value: Value) -> Bool {
        goesOn(1 &+ value.byteCount &>> CancellationCheck.bytesPerStepShift)
    }

    /// The same after `count` steps.
    @inline(__always) func goesOn(_ count: Int) -> Bool {
        stepsUntilCheck &-= count
        return stepsUntilCheck > 0 || asksToGoOn()
    }

    /// Asks whether to go on. After a refusal the answer stays no without another question.
    @inline(never) private func asksToGoOn() -> Bool {
        stepsUntilCheck = isStopped ? 0 : CancellationCheck.stepsPerCheck
        if !isStopped, let check, !check() { isStopped = true }
        return !isStopped
    }

    /// Throws when `goesOn` said no meanwhile.
    func requireGoingOn() throws(StorageError) {
        if isStopped { throw CancellationCheck.error }
    }

    /// Throws when more values are held than may be.
    func require(valueCount count: Int) throws(StorageError) {
        if count > valueLimit { throw .stopped(.tooManyValues(limit: valueLimit)) }
    }

    /// Runs `body`, asking `check` meanwhile.
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
    /// Values in ascending order.
    func sorted(_ values: some Sequence<Value>) throws(StorageError) -> [Value] {
        let sorted = values.sorted { goesOn(comparing: $0) && Value.order($0, $1) < 0 }
        try requireGoingOn()
        return sorted
    }
}
