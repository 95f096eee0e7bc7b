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

package enum EventPiece {
    /// Bytes to be sent; never changed any more, so that many connections may share them.
    case bytes(OutputBuffer)
    /// Nothing until the line is woken.
    case nothing
    /// The end of the answer.
    case end
}

/// How an endless answer came to its end.
package enum EventCloseReason: Sendable {
    case ended
    /// The client closed its side, or the connection broke.
    case left
    /// What was sent long ago is not acknowledged.
    case dead
}

/// The connection of an endless answer, as its source sees it.
package protocol EventLine: AnyObject, Sendable {
    /// Lets the daemon ask for more; any thread may call this.
    func wake()

    /// Wakes many at once, all of one server.
    static func wake(_ lines: [any EventLine])

    /// Breaks the connection, whatever it is doing.
    func hangUp()
}
