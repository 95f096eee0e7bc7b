// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The connection of an endless response, as its source sees it. `EventBody` implements it.
package protocol EventConnection: AnyObject, Sendable {
    /// Lets the daemon ask the source for more. Any thread may call it, at any time.
    func wake()

    /// Wakes many connections at once.
    ///
    /// - Parameter connections: Connections of one and the same server.
    static func wake(_ connections: [any EventConnection])

    /// Breaks the connection, whatever it is doing. What was not sent yet is lost.
    func hangUp()
}
