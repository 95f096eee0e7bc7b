// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What answers the requests that the daemon receives. The server has one, `RequestDispatcher`;
/// tests have others.
///
/// For each request `admit` is called first, then `reply` if the request was admitted, `finish` for
/// each response, and `didEnd` exactly once.
package protocol RequestHandler: Sendable {
    /// Decides about a request whose header section is complete, before any of its body is read.
    ///
    /// It is called on a thread of the daemon and must not wait for anything.
    ///
    /// - Parameter request: The request, still without a body.
    func admit(_ request: Request) -> Admission
    /// Answers a request whose body is complete.
    ///
    /// It is called on a thread of the daemon, once for each admitted request, and must not wait
    /// for anything: longer work is handed to a worker by what it returns.
    ///
    /// - Parameter request: The request with its body.
    func reply(to request: Request) -> Reply
    /// Returns the response as it is to be sent: with the header fields that all responses have,
    /// and compressed where the client accepts that.
    ///
    /// - Parameters:
    ///   - response: A response without what all responses have in common.
    ///   - request: The request that it answers.
    func finish(_ response: consuming Response, for request: Request) -> Response
    /// Whether `finish` is short enough for this response to run on a thread of the daemon; false
    /// when there is much to compress.
    func finishesQuickly(_ response: Response, for request: Request) -> Bool
    /// Records the end of a request, for the log and the metrics.
    ///
    /// It is called once per request, on a thread of the daemon, after the response was sent or the
    /// connection broke.
    ///
    /// - Parameters:
    ///   - request: The request that ended.
    ///   - status: The status that was sent, or 499 for a client that left before.
    ///   - bytesSent: Bytes of the response body that were given to the daemon.
    ///   - bytesReceived: Bytes of the request body.
    ///   - isComplete: False when the response was not sent completely.
    func didEnd(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool)
}

extension RequestHandler {
    /// The default for handlers that compress nothing: every response is finished quickly.
    package func finishesQuickly(_ response: Response, for request: Request) -> Bool { true }
}
