// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The content of an endless response, which its connection takes piece by piece.
///
/// A source does not push. The connection calls `next` when it can send more, and the source wakes the connection when there
/// may be something to send. So a client that does not read its events costs no memory.
package protocol EventSource: AnyObject, Sendable {
    /// Called once, before every other call, when the response has been assigned its connection.
    ///
    /// - Parameter connection: The connection to wake when there is more to send.
    func didOpen(_ connection: any EventConnection)

    /// Returns the next content to send.
    ///
    /// It is called on the thread of the daemon that serves the connection, or on one of those that send to suspended
    /// connections; calls never overlap, and it must not wait.
    func next() -> EventPiece

    /// Whether `next` would return anything but `nothing`. It has to be cheap: it is read again
    /// each time after the connection was put to sleep, so that nothing is missed in between.
    var hasMore: Bool { get }

    /// Called when a heartbeat is due, a sign of life that keeps the connection open. The caller wakes the connection.
    func heartbeat()

    /// Called when the response has lasted for as long as the limits allow, so that it is brought
    /// to an end. The caller wakes the connection.
    func ageOut()

    /// Called once at the end; nothing else is called after it.
    ///
    /// - Parameter reason: Whether everything was sent, or the fate of the client.
    func didClose(_ reason: EventCloseReason)
}

/// The connection of an endless response, as its source sees it. `EventBody` implements it.
package protocol EventConnection: AnyObject, Sendable {
    /// Lets the daemon ask the source for more. Any thread may call it, at any time.
    func wake()

    /// Wakes many connections at once.
    ///
    /// - Parameter connections: Connections of one and the same server.
    static func wake(_ connections: [any EventConnection])

    /// Breaks the connection, whatever it is doing. Unsent data is lost.
    func hangUp()
}

/// The reply of a source of events to a connection that asks for more.
package enum EventPiece {
    /// Bytes to be sent. They are never changed after this, so many connections can share one buffer.
    case bytes(OutputBuffer)
    /// Nothing to send at the moment: the connection sleeps until the source wakes it.
    case nothing
    /// The response is complete.
    case end
}

/// The cause of the end of an endless response.
package enum EventCloseReason: Sendable {
    /// The source ended it, and everything was sent.
    case ended
    /// The client closed its side or stopped reading, the connection broke, or the server stopped.
    case left
    /// The client is unreachable: it has not acknowledged data that was sent long ago.
    case dead
}
