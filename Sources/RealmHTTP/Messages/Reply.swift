// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How a handler answers a request.
package enum Reply: Sendable {
    /// The answer, made on the daemon's thread.
    case now(Response)
    /// A worker makes the answer, because it takes longer than a daemon's thread may be away.
    case work(@Sendable () -> Response)
    /// The attendant makes the answer. It has time when all workers are busy: for what the server reports of itself.
    case attend(@Sendable () -> Response)
    /// The answer comes later: the promise is completed from any thread.
    case later(@Sendable (any ResponsePromise) -> Void)
}

extension Reply {
    /// Makes the answer on this thread, if it is not made elsewhere, and completes `promise` with it.
    func resolve(_ promise: any ResponsePromise) {
        switch self {
        case .now(let response): promise.complete(response)
        case .work(let work), .attend(let work): promise.complete(work())
        case .later(let begin): begin(promise)
        }
    }

    /// Short work is done at once on this thread, everything else by a worker.
    static func reading(
        _ request: Request, isShort: Bool, _ work: @escaping @Sendable () throws(Problem) -> Response
    ) throws(Problem) -> Reply {
        if isShort { return .now(try work()) }
        let begin = Instant.now()
        return .work {
            request.timing?.queue += Instant.now().seconds(since: begin)
            do throws(Problem) {
                try request.checkDeadline()
                return try work()
            } catch {
                return Response(error, for: request)
            }
        }
    }
}
