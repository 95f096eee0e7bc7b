// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The facts about a connection when it is made.
package struct ConnectionArrival: Sendable {
    /// The socket.
    var descriptor: Int32
    /// The address of the peer as text; empty on a Unix socket.
    var address = ""
    /// The name to count the connection under; empty for an unlimited one, that of a Unix socket or of a trusted proxy.
    var client = ""
    /// The listener that has accepted it.
    var listener: ObjectIdentifier
    /// The connections of its thread of the daemon that are resumed to be answered.
    var resumptions: ResumptionQueue
    /// Whether it came by a Unix socket, so from this machine.
    var isUnix = false
    /// The memo of the handler about it.
    var memo: (any ConnectionMemo)?
    /// Its encryption; nil for plain HTTP.
    var tls: TLSConnection?
}
