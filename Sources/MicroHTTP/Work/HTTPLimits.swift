// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform

/// The limits of a listener: its connections, received heads and bodies, and responses.
///
/// Byte limits count bytes, times are in seconds, and names that end in `PerPrincipal` apply to one client.
package struct HTTPLimits: Sendable, Equatable {
    /// The maximum length of a request target in bytes; beyond it the status is 414.
    package var targetBytes = 8 << 10
    /// The maximum number of bytes of a header section; beyond it the status is 431.
    package var headerBytes = 16 << 10
    /// The maximum number of header fields of a request; beyond it the status is 431.
    package var headerFields = 100
    /// The maximum number of open connections of the main listener.
    package var connections = 1000
    /// The maximum number of open connections from one address.
    package var connectionsPerAddress = 100
    /// The maximum number of open connections of the administrators' listener.
    package var adminConnections = 32
    /// The time in seconds in which the head of a request has to be complete, and the longest pause
    /// between the bytes of a body.
    package var requestSeconds = 10
    /// The time in seconds in which a new connection has to send the first byte of its first request.
    package var headSeconds = 5
    /// The time in seconds in which a body has to be complete, however long it is.
    package var bodySeconds = 3600
    /// The minimum number of bytes per second at which a body has to arrive on average, checked
    /// once it has taken longer than `requestSeconds`.
    package var bodyRate = 1024
    /// The time in seconds after which a connection without a request is closed.
    package var idleSeconds = 75
    /// The time in seconds after which a stream is disconnected whose client reads nothing.
    package var stallSeconds = 300
    /// The age in seconds at which streams end, varied by a tenth so that they do not all end together.
    package var streamSeconds = 1800
    /// The time in seconds between two heartbeats of a stream.
    package var heartbeat = 15
    /// The time in seconds that a streamed response may take. It pins its version during that time, so a client that reads too
    /// slowly is cut off.
    package var answerSeconds = 3600
    /// The maximum number of bytes of long responses of the whole server that clients have not received yet.
    package var unsentBytes = 256 << 20
    /// The maximum number of bytes of long responses that one client has not received yet.
    package var unsentBytesPerPrincipal = 192 << 20

    /// Makes the default limits.
    package init() {}
}
