// SPDX-License-Identifier: Apache-2.0

/// What an endless answer says, asked for piece by piece.
///
/// A source does not push: it is asked when there is room on the connection, and wakes its line when there may be more.
/// So a client that does not read costs no memory.
package protocol EventSource: AnyObject, Sendable {
    /// The answer has its connection. Called once, before anything else.
    func didOpen(_ line: any EventLine)

    /// What to send now. Calls never overlap; must not wait.
    func next() -> EventPiece

    /// Whether `next` would say more than that there is nothing. Cheap: asked after the connection was put to sleep.
    var hasMore: Bool { get }

    /// It is time for a sign of life. The line is woken by the caller.
    func beat()

    /// The answer got old. The line is woken by the caller.
    func ageOut()

    /// Nothing more is asked for: everything was sent, or the client is gone.
    func didClose(_ reason: EventCloseReason)
}
