// SPDX-License-Identifier: Apache-2.0

package import RealmStorage
internal import Synchronization

/// What a write asks for besides its changes.
package struct WriteRequest: Sendable {
    /// When to give up; the write is rolled back then.
    package var deadline: Instant
    /// Fails unless this is the newest version; writes ahead of it that share its commit count too.
    package var ifVersion: UInt64?
    /// Does everything, then rolls back.
    package var isDryRun = false
    /// Shares its version with no other write.
    package var isAlone = false
    /// Told to those who hear of the commit; makes sense for a write that is alone.
    package var mark: (any Sendable)?
    /// Told how much is done, and asked whether it is still wanted.
    package var control: WorkControl?

    package init(deadline: Instant, ifVersion: UInt64? = nil, isDryRun: Bool = false, isAlone: Bool = false) {
        self.deadline = deadline
        self.ifVersion = ifVersion
        self.isDryRun = isDryRun
        self.isAlone = isAlone
    }
}

/// What became of a write.
package struct WriteReceipt<Value: Sendable>: Sendable {
    /// What the closure of the write returned.
    package let value: Value
    /// The version of its commit, durable; the newest one when nothing was changed or it was a dry run.
    package let version: Database.Version
    /// False for dry runs.
    package let isCommitted: Bool
}

/// One write in the queue: a closure, and who waits for it.
///
/// `@unchecked Sendable`: `value` in the closures belongs to the writer thread, `pending` is set before the job is handed
/// over, the rest is immutable or guarded.
final class WriteJob: @unchecked Sendable {
    typealias Outcome = Result<(version: Database.Version, isCommitted: Bool), WriteError>

    let request: WriteRequest
    /// When it entered the queue.
    let submitted = Instant.now()
    private let body: (WriteSession) throws -> Void
    private let completion: (Outcome) -> Void
    private let didStart: @Sendable () -> Void
    private let stage = Atomic<UInt8>(0)
    /// Counts the writes that are not answered; set when the job enters a queue.
    private var pending: PendingCount?

    private enum Stage { static let waiting: UInt8 = 0, running: UInt8 = 1, finished: UInt8 = 2 }

    init<Value: Sendable>(
        _ request: WriteRequest, _ body: @escaping @Sendable (WriteSession) throws -> Value,
        didStart: @escaping @Sendable () -> Void = {},
        completion: @escaping @Sendable (Result<WriteReceipt<Value>, WriteError>) -> Void
    ) {
        self.request = request
        self.didStart = didStart
        var value: Value?
        self.body = { session in value = try body(session) }
        self.completion = { outcome in
            switch outcome {
            case .failure(let error): completion(.failure(error))
            case .success(let end):
                guard let value else { return completion(.failure(WriteError(.cancelled, "the write never ran"))) }
                completion(.success(WriteReceipt(value: value, version: end.version, isCommitted: end.isCommitted)))
            }
        }
    }

    /// Counts the job as pending until just before it is answered.
    func enter(_ count: PendingCount) {
        count.add(1)
        pending = count
    }

    private func answer(_ outcome: Outcome) {
        pending?.add(-1)
        HeldLocks.assertNone()
        completion(outcome)
    }

    /// Whether the job may run now: nobody has cancelled it.
    func start() -> Bool {
        guard stage.compareExchange(expected: Stage.waiting, desired: Stage.running, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        didStart()
        return true
    }

    /// Takes the job back if it has not begun; its completion is called with `cancelled`.
    func cancel() -> Bool {
        guard stage.compareExchange(expected: Stage.waiting, desired: Stage.finished, ordering: .acquiringAndReleasing).exchanged
        else { return false }
        answer(.failure(WriteError(.cancelled, "the write was cancelled before it began")))
        return true
    }

    var isCancelled: Bool { stage.load(ordering: .acquiring) == Stage.finished }

    /// Fails a job that waits; nothing happens to one that was cancelled.
    func refuse(_ error: WriteError) {
        guard stage.exchange(Stage.finished, ordering: .acquiringAndReleasing) != Stage.finished else { return }
        answer(.failure(error))
    }

    func run(_ session: WriteSession) throws(WriteError) {
        do {
            try body(session)
        } catch {
            throw WriteError(caller: error)
        }
        try session.checkDeadline()
    }

    func finish(_ outcome: Outcome) {
        stage.store(Stage.finished, ordering: .releasing)
        answer(outcome)
    }
}

/// How many writes are not answered yet.
final class PendingCount: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add(_ difference: Int) { count.wrappingAdd(difference, ordering: .acquiringAndReleasing) }
}

/// A hold on a write that was handed in.
package struct WriteTicket: Sendable {
    let job: WriteJob

    /// Takes the write back; false when it has begun or is over.
    package func cancel() -> Bool { job.cancel() }
}
