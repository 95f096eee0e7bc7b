// SPDX-License-Identifier: Apache-2.0

/// What a handler says about a request.
package enum Reply: Sendable {
    /// Done, on the daemon's thread.
    case now(Response)
    /// To be done by a worker: takes longer than a daemon's thread should be away.
    case work(@Sendable () -> Response)
    /// To be done by the attendant, who has time when all workers are busy: what the server tells of itself.
    case attend(@Sendable () -> Response)
    /// To be done by somebody else, who completes the promise from any thread.
    case later(@Sendable (any ResponsePromise) -> Void)
}
