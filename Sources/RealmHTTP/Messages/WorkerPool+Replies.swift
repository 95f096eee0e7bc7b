// SPDX-License-Identifier: Apache-2.0

extension WorkerPool {
    /// Queues a job for a request. When too many jobs wait, the request is answered with `overloaded` instead.
    ///
    /// Every request that needs a worker comes by here, so a full queue is answered in one place.
    func submit(for request: Request, to promise: any ResponsePromise, _ job: @escaping Job) {
        guard !submit(for: request.client, job) else { return }
        promise.complete(Response(.noWorker, for: request))
    }

    /// A reply that `work` completes on a worker.
    func reply(to request: Request, _ work: @escaping @Sendable (any ResponsePromise) -> Void) -> Reply {
        .later { promise in self.submit(for: request, to: promise) { work(promise) } }
    }

    /// A reply that is worked out on a worker, and may itself be one that comes later.
    func reply(
        to request: Request, workingOut endpoint: @escaping @Sendable () throws(Problem) -> Reply
    ) -> Reply {
        reply(to: request) { promise in
            do throws(Problem) {
                try endpoint().resolve(promise)
            } catch {
                promise.complete(Response(error, for: request))
            }
        }
    }
}
