// SPDX-License-Identifier: Apache-2.0

/// How an endless answer came to its end.
package enum EventCloseReason: Sendable {
    case ended
    /// The client closed its side, or the connection broke.
    case left
    /// What was sent long ago is not acknowledged.
    case dead
}
