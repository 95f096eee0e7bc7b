// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The way in which the response to a request is made, and its thread.
///
/// A handler returns it on a thread of the daemon, which must not be kept for long. Everything but
/// `now` suspends the connection until the response is complete.
package enum Reply: Sendable {
    /// The response is complete already.
    case now(Response)
    /// A worker makes the response by calling the closure, because it takes longer than a thread of the daemon may be occupied.
    case work(@Sendable () -> Response)
    /// The attendant makes the response by calling the closure. It is a separate thread for the state of the server, such as
    /// metrics, which stays available when all workers are busy.
    case attend(@Sendable () -> Response)
    /// The response comes when something else has happened. The closure is called at once, on the
    /// thread that handles the reply, with the promise that any thread completes later.
    case later(@Sendable (any ResponsePromise) -> Void)
}

extension Reply {
    /// Makes the response on the calling thread, unless it comes later, and completes `promise` with it.
    ///
    /// Workers call this for replies that were decided away from the daemon's thread, where nothing
    /// is gained by queueing once more.
    ///
    /// - Parameter promise: The place for the response of this request.
    package func resolve(_ promise: any ResponsePromise) {
        switch self {
        case .now(let response): promise.complete(response)
        case .work(let work), .attend(let work): promise.complete(work())
        case .later(let begin): begin(promise)
        }
    }
}
