// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The content of an endless response, which its connection takes piece by piece.
///
/// A source does not push. The connection calls `next` when it can send more, and the source wakes
/// the connection when there may be something to send. So a client that does not read its events costs
/// no memory.
package protocol EventSource: AnyObject, Sendable {
    /// Called once, before every other call, when the response has been assigned its connection.
    ///
    /// - Parameter connection: The connection to wake when there is more to send.
    func didOpen(_ connection: any EventConnection)

    /// Returns what to send next. It is called on the thread of the daemon that serves the
    /// connection, or on one of those that send to suspended connections; calls never overlap, and it must
    /// not wait.
    func next() -> EventPiece

    /// Whether `next` would return anything but `nothing`. It has to be cheap: it is read again
    /// each time after the connection was put to sleep, so that nothing is missed in between.
    var hasMore: Bool { get }

    /// Called when a heartbeat is due, a sign of life that keeps the connection open. The caller
    /// wakes the connection.
    func heartbeat()

    /// Called when the response has lasted for as long as the limits allow, so that it is brought
    /// to an end. The caller wakes the connection.
    func ageOut()

    /// Called once at the end; nothing else is called after it.
    ///
    /// - Parameter reason: Whether everything was sent, or what happened to the client.
    func didClose(_ reason: EventCloseReason)
}
