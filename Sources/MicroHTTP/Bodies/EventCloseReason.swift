// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// How an endless response came to its end.
package enum EventCloseReason: Sendable {
    /// The source ended it, and everything was sent.
    case ended
    /// The client closed its side or stopped reading, the connection broke, or the server stopped.
    case left
    /// The client is unreachable: it has not acknowledged what was sent to it long ago.
    case dead
}
