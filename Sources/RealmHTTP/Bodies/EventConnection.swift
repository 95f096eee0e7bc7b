// SPDX-License-Identifier: Apache-2.0

/// The connection of an endless answer, as its source sees it.
package protocol EventConnection: AnyObject, Sendable {
    /// Lets the daemon ask for more; any thread may call this.
    func wake()

    /// Wakes many at once, all of one server.
    static func wake(_ connections: [any EventConnection])

    /// Breaks the connection, whatever it is doing.
    func hangUp()
}
