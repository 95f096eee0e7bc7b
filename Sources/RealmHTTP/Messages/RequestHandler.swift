// SPDX-License-Identifier: Apache-2.0

/// The application behind the daemon.
package protocol RequestHandler: Sendable {
    func admit(_ request: Request) -> Admission
    func reply(to request: Request) -> Reply
    /// Adds what every answer carries, compresses, and drops what the method has no use for.
    func finish(_ response: consuming Response, for request: Request) -> Response
    /// The document for a problem.
    func response(to problem: Problem, for request: Request) -> Response
    /// Whether `finish` takes no longer than a daemon's thread may be away.
    func finishesQuickly(_ response: Response, for request: Request) -> Bool
    /// Called once per request after its answer left, or could not; `isComplete` is false when the client went away.
    func didEnd(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool)
}

extension RequestHandler {
    package func finishesQuickly(_ response: Response, for request: Request) -> Bool { true }
}
