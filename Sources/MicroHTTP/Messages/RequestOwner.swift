// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform

/// The sender of a request, as far as threads and memory are shared.
package protocol RequestOwner: AnyObject, Sendable {
    var request: Request { get }
    /// The name under which work, memory and streams of the sender are counted together.
    var account: String { get }
    /// Whether the request is in vain once its client has left, as it only reads, registers subscriptions or has changed nothing yet. It is
    /// not begun then.
    var isForItsClient: Bool { get }
    /// Returns a problem as the sender may see it.
    func visible(_ problem: Problem) -> Problem
}

extension Response {
    /// Makes the response for a problem, as the sender of a request may see it.
    package init(_ problem: Problem, for owner: some RequestOwner) {
        self.init(owner.visible(problem), id: owner.request.id)
    }
}

extension WorkerPool {
    /// The age of a request, in seconds, from which on its client is checked before the work begins.
    private static let secondsToAsk = 0.05

    /// Queues a job for a request. When too many jobs are waiting, `promise` is completed with 503 `overloaded` instead.
    ///
    /// All requests that need a worker pass here, so a full queue is answered in one place. A request that only reads, and whose
    /// client has left while it waited, is not begun.
    ///
    /// - Parameters:
    ///   - owner: The sender of the request, whose client's share of the queue is used.
    ///   - promise: Completed here only when the job is refused; otherwise `job` has to do so.
    ///   - job: The work, run on a worker.
    package func submit(for owner: some RequestOwner, to promise: any ResponsePromise, _ job: @escaping Job) {
        let isQueued = submit(for: owner.account) {
            if owner.isForItsClient, Instant.now().seconds(since: owner.request.arrival) > WorkerPool.secondsToAsk,
                owner.request.budget.isStillWanted?() == false
            {
                promise.complete(Response(Problem(WorkStop.cancelled), for: owner))
            } else {
                job()
            }
        }
        if !isQueued { promise.complete(Response(.noWorker, for: owner)) }
    }

    /// Returns a reply for which a worker calls `work`, which completes the promise then or later.
    ///
    /// - Parameters:
    ///   - owner: The sender of the request that is answered.
    ///   - work: Called once on a worker.
    package func reply(to owner: some RequestOwner, _ work: @escaping @Sendable (any ResponsePromise) -> Void) -> Reply {
        .later { promise in self.submit(for: owner, to: promise) { work(promise) } }
    }

    /// Returns a reply that a worker determines, which itself may be one that comes later.
    ///
    /// - Parameters:
    ///   - owner: The sender of the request that is answered.
    ///   - endpoint: Called once on a worker; a problem that it throws becomes an error response.
    package func reply(
        to owner: some RequestOwner, workingOut endpoint: @escaping @Sendable () throws(Problem) -> Reply
    ) -> Reply {
        reply(to: owner) { promise in
            do throws(Problem) {
                try endpoint().resolve(promise)
            } catch {
                promise.complete(Response(error, for: owner))
            }
        }
    }
}
