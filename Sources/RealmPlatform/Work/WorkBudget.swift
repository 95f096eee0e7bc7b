// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The limits of one piece of work: its time, the bytes that it produces, the objects that it follows links to.
///
/// Code that walks over something whose length depends on a request or a file spends a unit for about every value. Spending is
/// a subtraction and a comparison; the clock is read only every 2048 units.
///
/// `@unchecked Sendable`: one thread at a time works with a budget, and it is passed on through the
/// locks of queues. `cancel` alone may be called by any thread; its flag is atomic.
package final class WorkBudget: @unchecked Sendable {
    /// The time at which the work is stopped with `.expired`.
    package var deadline: Instant
    /// The time at which the work is stopped to continue on another thread; see `WorkStop.handOver`.
    package var handOverAt = Instant.distantFuture
    /// The greatest number of bytes of the response; more end the work with `.tooManyBytes`.
    package var byteLimit = Int.max { didSet { limitRoom() } }
    /// Reserves more bytes of the memory that all responses share, or returns why there are none;
    /// nil where that is not counted.
    package var takesRoom: (@Sendable (_ byteCount: Int) -> WorkStop?)? { didSet { limitRoom() } }
    /// The greatest number of objects that links may lead to; more end the work with `.tooManyObjects`.
    package var objectLimit = Int.max
    /// Returns, when the work has taken a while, whether the result is still wanted.
    package var isStillWanted: (@Sendable () -> Bool)?
    /// The reason for which the work was stopped; nil as long as it was not.
    package private(set) var stop: WorkStop?

    /// The number of units that may be spent until the clock is read again.
    private var unitsLeft = WorkBudget.unitsPerLook
    /// The number of objects that links have led to in this part of the response.
    private var objects = 0
    /// How many bytes the parts before this one have.
    private var partStart = 0
    /// How many bytes of the shared memory were reserved; the first ones need no reservation.
    private var roomTaken = WorkBudget.roomStep
    /// The number of bytes up to which `takesRoom` need not be called.
    private var roomLimit = Int.max
    /// When to call `isStillWanted` again; in the distant future before the first call.
    private var nextProbe: Instant
    /// Whether the work was cancelled; set by any thread, read by the one that works.
    private let cancelled = Atomic<Bool>(false)

    /// How many units are spent between two readings of the clock: some hundred microseconds of work.
    private static let unitsPerLook = 2048
    /// How many seconds pass between two calls of `isStillWanted`, and before the first.
    private static let secondsPerProbe = 0.25

    /// Makes a budget without limits except for the deadline; set the others before the work begins.
    package init(deadline: Instant = .distantFuture) {
        self.deadline = deadline
        nextProbe = .distantFuture
    }

    /// Returns a function that makes budgets with the present limits, for other threads that work on the same at the same time. Whether
    /// the result is still wanted is left to this one, and so is work that needs much memory.
    ///
    /// - Parameter bytes: The greatest number of bytes of each part, if it is below the limit of this budget.
    package func twins(byteLimit bytes: Int) -> @Sendable () -> WorkBudget {
        let (deadline, byteLimit, objectLimit) = (deadline, min(byteLimit, bytes), objectLimit)
        return {
            let twin = WorkBudget(deadline: deadline)
            twin.byteLimit = byteLimit
            twin.objectLimit = objectLimit
            return twin
        }
    }

    // MARK: - Time

    /// Counts work; throws `.stopped` when there is no time left.
    ///
    /// - Parameter units: About the number of values that were processed.
    @inline(__always) package func spend(_ units: Int = 1) throws(StorageError) {
        unitsLeft &-= units
        if unitsLeft < 0 { try checkTime() }
    }

    /// Counts work inside of a sort, whose comparisons cannot throw; returns false when there is no
    /// time left. `check` has to follow the sort.
    @inline(__always) package func allows(_ units: Int = 1) -> Bool {
        unitsLeft &-= units
        return unitsLeft >= 0 || allowsMore()
    }

    /// Reads the clock inside of a sort, and returns whether to continue.
    @inline(never) private func allowsMore() -> Bool {
        unitsLeft = stop == nil ? WorkBudget.unitsPerLook : 0
        return stop == nil && continues
    }

    /// Returns the units of a value of `count` bytes that is compared or copied.
    @inline(__always) package static func units(forBytes count: Int) -> Int { 1 &+ count / 1024 }

    /// Reads the clock, because the units are used up; throws `.stopped` when there is no time left.
    @inline(never) private func checkTime() throws(StorageError) {
        unitsLeft = WorkBudget.unitsPerLook
        try check()
    }

    /// Reads the clock at once; throws `.stopped` when there is no time left.
    package func check() throws(StorageError) {
        if !continues, let stop { throw .stopped(stop) }
    }

    /// Whether there is time left. Reading it reads the clock, and stores the reason to stop.
    package var continues: Bool {
        if let reason = reasonToStop() {
            stop = reason
            return false
        }
        return true
    }

    /// Returns the reason to stop; nil to continue.
    private func reasonToStop() -> WorkStop? {
        if cancelled.load(ordering: .relaxed) { return .cancelled }
        let now = Instant.now()
        if now.nanoseconds >= deadline.nanoseconds { return .expired }
        if now.nanoseconds >= handOverAt.nanoseconds { return .handOver }
        return isWanted(now) ? nil : .cancelled
    }

    /// Returns whether the result is still wanted; the client is checked at most every quarter of a second.
    private func isWanted(_ now: Instant) -> Bool {
        guard let isStillWanted else { return true }
        if nextProbe.isDistantFuture { nextProbe = now.adding(seconds: WorkBudget.secondsPerProbe) }
        guard now >= nextProbe else { return true }
        nextProbe = now.adding(seconds: WorkBudget.secondsPerProbe)
        return isStillWanted()
    }

    /// Announces a step that takes long and does not read the clock: work on a thread that must not
    /// be blocked continues on another.
    ///
    /// - Throws: `.stopped(.handOver)` on such a thread.
    package func beginLongStep() throws(StorageError) {
        if !handOverAt.isDistantFuture { try refuse(.handOver) }
    }

    /// The size in bytes above which values are read and written on another thread.
    private static let longValue = 128 << 10

    /// Announces a value of `byteCount` bytes that is read or written, which may be a long step, and counts the work on a long one.
    @inline(__always) package func meet(byteCount: Int) throws(StorageError) {
        if byteCount > WorkBudget.longValue { try meetLong(byteCount) }
    }

    /// Announces a long value, and counts the work on it.
    @inline(never) private func meetLong(_ byteCount: Int) throws(StorageError) {
        try beginLongStep()
        try spend(WorkBudget.units(forBytes: byteCount))
    }

    /// Stops the work at its next check, because no client waits for it any more. Any thread may call it.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether `cancel` was called, because no client waits for the work.
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Resets the budget for work that begins again on a thread that has time: what was spent and
    /// the reason to stop are dropped.
    package func beginAnew() {
        stop = nil
        handOverAt = .distantFuture
        beginPart(at: 0)
    }

    // MARK: - Amounts

    /// Checks that `count` bytes, with those before this part, may be produced; throws `.stopped` otherwise.
    @inline(__always) package func requireRoom(for count: Int) throws(StorageError) {
        if count &- partStart > roomLimit { try takeRoom(for: count &- partStart) }
    }

    /// The number of bytes up to which `requireRoom` need not be called, for loops.
    package var roomEnd: Int { partStart.addingReportingOverflow(roomLimit).overflow ? .max : partStart &+ roomLimit }

    /// Checks that `count` bytes may be produced, and returns the number up to which no other check is needed.
    package func roomEnd(for count: Int) throws(StorageError) -> Int {
        try requireRoom(for: count)
        return roomEnd
    }

    /// How many bytes of the shared memory are reserved at a time, at least.
    private static let roomStep = 1 << 20

    /// Computes the number of bytes at which `requireRoom` has to check more closely.
    private func limitRoom() { roomLimit = takesRoom == nil ? byteLimit : min(byteLimit, roomTaken) }

    /// Reserves more of the shared memory for responses; throws `.stopped` when there is none.
    @inline(never) private func takeRoom(for count: Int) throws(StorageError) {
        if count > byteLimit { try refuse(.tooManyBytes(limit: byteLimit)) }
        guard let takesRoom else { return }
        let missing = max(count - roomTaken, WorkBudget.roomStep)
        if let reason = takesRoom(missing) { try refuse(reason) }
        roomTaken += missing
        limitRoom()
    }

    /// Counts one more object that a link leads to; throws `.stopped` when there are too many.
    @inline(__always) package func follow() throws(StorageError) {
        objects &+= 1
        if objects > objectLimit { try refuse(.tooManyObjects(limit: objectLimit)) }
    }

    /// Begins the next part of a response, whose objects and bytes are counted from 0; `count` bytes come before it.
    ///
    /// Responses that are sent in parts, such as exports, have limits for each part rather than for the whole.
    package func beginPart(at count: Int) {
        objects = 0
        partStart = count
    }

    @inline(never) private func refuse(_ reason: WorkStop) throws(StorageError) {
        stop = reason
        throw .stopped(reason)
    }
}
