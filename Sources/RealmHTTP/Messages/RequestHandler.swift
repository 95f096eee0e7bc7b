// SPDX-License-Identifier: Apache-2.0

/// The application behind the daemon.
package protocol RequestHandler: Sendable {
    /// Decides about a request when its head is complete, before any of its body is read. Called on a thread of the daemon,
    /// which must not wait.
    func admit(_ request: Request) -> Admission
    /// Answers a request whose body is complete. Called on a thread of the daemon, once for each request that was admitted;
    /// what takes longer is handed to a worker by the reply.
    func reply(to request: Request) -> Reply
    /// Adds what every answer carries, compresses, and drops what the method has no use for.
    func finish(_ response: consuming Response, for request: Request) -> Response
    /// Whether `finish` takes no longer than a daemon's thread may be away.
    func finishesQuickly(_ response: Response, for request: Request) -> Bool
    /// Called once per request after its answer left, or could not; `isComplete` is false when the client went away.
    func didEnd(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool)
}

extension RequestHandler {
    /// Handlers that do not pack answers finish all of them quickly.
    package func finishesQuickly(_ response: Response, for request: Request) -> Bool { true }
}
