// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What one piece of work may cost: its time, the bytes it makes, the objects it follows links to.
///
/// Whoever walks over something whose length a request or a file decides spends a unit for about every value it meets.
/// Spending is a subtraction and a comparison; the clock is looked at every so many units only.
///
/// `@unchecked Sendable`: one thread at a time works with a budget, and it is handed on through the locks of queues.
/// `cancel` alone may be called by any thread; its flag is atomic.
package final class WorkBudget: @unchecked Sendable {
    /// When to give up.
    package var deadline: Instant
    /// When to go on elsewhere; see `WorkStop.handOver`.
    package var handOverAt = Instant.distantFuture
    /// Bytes that may be made.
    package var byteLimit = Int.max { didSet { limitRoom() } }
    /// Takes so many more bytes of the memory that all answers share, or returns why there are none; nil where that is not
    /// counted.
    package var takesRoom: (@Sendable (_ byteCount: Int) -> WorkStop?)? { didSet { limitRoom() } }
    /// Objects that may be reached through links.
    package var objectLimit = Int.max
    /// Returns, when the work has taken a while, whether the result is still wanted.
    package var isStillWanted: (@Sendable () -> Bool)?
    /// Why the work was given up; nil as long as it was not.
    package private(set) var stop: WorkStop?

    /// Units until the clock is looked at again.
    private var unitsLeft = WorkBudget.unitsPerLook
    /// Objects that links have led to in this part.
    private var objects = 0
    /// How many bytes came before this part.
    private var partStart = 0
    /// Bytes that were taken of the memory for answers; the first ones are free.
    private var roomTaken = WorkBudget.roomStep
    /// Up to where `takesRoom` need not be asked.
    private var roomLimit = Int.max
    /// When to ask again whether the answer is still wanted; in the distant future before the first question.
    private var nextProbe: Instant
    /// Set by any thread; read by the one that works.
    private let cancelled = Atomic<Bool>(false)

    /// Between two looks at the clock: some hundred microseconds of work.
    private static let unitsPerLook = 2048
    /// Between two questions whether the result is still wanted, and before the first.
    private static let secondsPerProbe = 0.25

    /// A budget without limits but the deadline; set the others before the work begins.
    package init(deadline: Instant = .distantFuture) {
        self.deadline = deadline
        nextProbe = .distantFuture
    }

    // MARK: - Time

    /// Counts work; throws `.stopped` when there is no time left.
    @inline(__always) package func spend(_ units: Int = 1) throws(StorageError) {
        unitsLeft &-= units
        if unitsLeft < 0 { try look() }
    }

    /// The same inside of a sort, whose comparisons cannot throw: false when there is no time left. `check` has to follow.
    @inline(__always) package func allows(_ units: Int = 1) -> Bool {
        unitsLeft &-= units
        return unitsLeft >= 0 || allowsMore()
    }

    /// Looks at the clock inside of a sort and returns whether to go on.
    @inline(never) private func allowsMore() -> Bool {
        unitsLeft = stop == nil ? WorkBudget.unitsPerLook : 0
        return stop == nil && goesOn
    }

    /// Units of a value of so many bytes that is compared or copied.
    @inline(__always) package static func units(forBytes count: Int) -> Int { 1 &+ count / 1024 }

    /// Looks at the clock, because the units are used up.
    @inline(never) private func look() throws(StorageError) {
        unitsLeft = WorkBudget.unitsPerLook
        try check()
    }

    /// Looks at the clock now.
    package func check() throws(StorageError) {
        if !goesOn, let stop { throw .stopped(stop) }
    }

    /// Whether there is time left; what queries ask.
    package var goesOn: Bool {
        if let reason = reasonToStop() {
            stop = reason
            return false
        }
        return true
    }

    /// Why to give up now; nil to go on.
    private func reasonToStop() -> WorkStop? {
        if cancelled.load(ordering: .relaxed) { return .cancelled }
        let now = Instant.now()
        if now.nanoseconds >= deadline.nanoseconds { return .expired }
        if now.nanoseconds >= handOverAt.nanoseconds { return .handOver }
        return isWanted(now) ? nil : .cancelled
    }

    /// Asks whether the answer is still wanted, but not more often than every quarter of a second.
    private func isWanted(_ now: Instant) -> Bool {
        guard let isStillWanted else { return true }
        if nextProbe.isDistantFuture { nextProbe = now.adding(seconds: WorkBudget.secondsPerProbe) }
        guard now >= nextProbe else { return true }
        nextProbe = now.adding(seconds: WorkBudget.secondsPerProbe)
        return isStillWanted()
    }

    /// Said before a step that takes long and looks at no clock: work that was begun on a thread that must not be kept goes
    /// on elsewhere.
    package func beginLongStep() throws(StorageError) {
        if !handOverAt.isDistantFuture { try refuse(.handOver) }
    }

    /// Values of more bytes than this are read and written elsewhere.
    private static let longValue = 128 << 10

    /// Said before a value of so many bytes is read or written.
    @inline(__always) package func meet(byteCount: Int) throws(StorageError) {
        if byteCount > WorkBudget.longValue { try beginLongStep() }
    }

    /// Nobody waits for this work any more; any thread may say so.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether `cancel` was called.
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Forgets what was spent, and that the work was stopped: it begins once more, on a thread that has time.
    package func beginAnew() {
        stop = nil
        handOverAt = .distantFuture
        beginPart(at: 0)
    }

    // MARK: - Amounts

    /// Throws `.stopped` when `count` bytes, with those before this part, are more than may be made.
    @inline(__always) package func requireRoom(for count: Int) throws(StorageError) {
        if count &- partStart > roomLimit { try takeRoom(for: count &- partStart) }
    }

    /// The same for loops: up to this count `takesRoom` need not be asked.
    package var roomEnd: Int { partStart.addingReportingOverflow(roomLimit).overflow ? .max : partStart &+ roomLimit }

    /// Where the room ends once `count` bytes were allowed.
    package func roomEnd(for count: Int) throws(StorageError) -> Int {
        try requireRoom(for: count)
        return roomEnd
    }

    /// So much is taken at a time.
    private static let roomStep = 1 << 20

    /// Takes the nearer of the limits for `requireRoom`.
    private func limitRoom() { roomLimit = takesRoom == nil ? byteLimit : min(byteLimit, roomTaken) }

    /// Takes more of the shared memory for answers. Throws `.stopped` when there is none.
    @inline(never) private func takeRoom(for count: Int) throws(StorageError) {
        if count > byteLimit { try refuse(.tooManyBytes(limit: byteLimit)) }
        guard let takesRoom else { return }
        let missing = max(count - roomTaken, WorkBudget.roomStep)
        if let reason = takesRoom(missing) { try refuse(reason) }
        roomTaken += missing
        limitRoom()
    }

    /// Counts one more object that a link leads to.
    @inline(__always) package func follow() throws(StorageError) {
        objects &+= 1
        if objects > objectLimit { try refuse(.tooManyObjects(limit: objectLimit)) }
    }

    /// Counts the objects and bytes of the next part of an answer by themselves; `count` bytes come before it.
    ///
    /// Answers that are sent in parts, such as exports, have limits for each part rather than for the whole.
    package func beginPart(at count: Int) {
        objects = 0
        partStart = count
    }

    /// Notes why the work stops, and throws that.
    @inline(never) private func refuse(_ reason: WorkStop) throws(StorageError) {
        stop = reason
        throw .stopped(reason)
    }
}
