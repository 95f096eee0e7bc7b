// SPDX-License-Identifier: Apache-2.0

/// The contents of an endless answer, asked for piece by piece.
///
/// A source does not push: the connection asks it when there is room to send, and the source wakes the connection when there may be more.
/// So a client that does not read costs no memory.
package protocol EventSource: AnyObject, Sendable {
    /// The answer has its connection. Called once, before anything else.
    func didOpen(_ connection: any EventConnection)

    /// What to send now. Calls never overlap. It must not wait.
    func next() -> EventPiece

    /// Whether `next` would say more than that there is nothing. Cheap: asked after the connection was put to sleep.
    var hasMore: Bool { get }

    /// A heartbeat is due. The caller wakes the connection.
    func heartbeat()

    /// The answer has lasted for as long as the limits allow. The caller wakes the connection.
    func ageOut()

    /// Nothing more is asked for: everything was sent, or the client is gone.
    func didClose(_ reason: EventCloseReason)
}
