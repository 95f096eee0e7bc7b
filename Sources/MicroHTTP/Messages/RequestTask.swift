// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One request from its head to its end, on the side of the handler.
///
/// `admit` is called first, then `reply` if the request was admitted and its body is complete, `finish` for each response, and `end` exactly
/// once.
package protocol RequestTask: RequestOwner {
    /// Decides about the request before any of its body is read. It is called on a thread of the daemon and does not wait.
    func admit() -> Admission
    /// Answers the request, whose body is complete. It is called once, on a thread of the daemon, and does not wait: longer work is handed
    /// to a worker by the reply.
    func reply() -> Reply
    /// Returns the response as it is to be sent: with the header fields that all responses have, and compressed where the client accepts
    /// that.
    func finish(_ response: consuming Response) -> Response
    /// Whether `finish` is short enough for this response to run on a thread of the daemon; false when there is much to compress.
    func finishesQuickly(_ response: Response) -> Bool
    /// Records the end of the request, for the log and the metrics. It is called once, on a thread of the daemon, after the response was
    /// sent or the connection broke.
    ///
    /// - Parameters:
    ///   - status: The status that was sent, or 499 for a client that left before.
    ///   - bytesSent: Bytes of the response body that were given to the daemon.
    ///   - bytesReceived: Bytes of the request body.
    ///   - isComplete: False when the response was not sent completely.
    func end(status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool)
}

extension RequestTask {
    /// Tasks that compress nothing finish every response quickly.
    package func finishesQuickly(_ response: Response) -> Bool { true }
}

/// The decision about a request whose header section is complete and whose body has not been read.
///
/// A `RequestTask` makes it on a thread of the daemon; `Exchange` acts on it.
package enum Admission: Sendable {
    /// The body is to be received, if there is one.
    ///
    /// `bodyLimit` is the largest number of bytes that it may have, as sent and after its content coding is undone.
    /// `spoolFolders` are folders for a temporary file: a long body goes to the first of them in which a file can be made.
    /// Without folders every body stays in memory. `refusal` returns the reason to receive no more of the body, for example
    /// because the credential has ended; any thread calls it.
    case accept(bodyLimit: Int, spoolFolders: [String] = [], refusal: (@Sendable () -> Problem?)? = nil)
    /// The request is answered with this response, and its body is not used.
    case refuse(Response)
}
