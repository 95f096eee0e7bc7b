// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What a source of events returns when the connection asks it for more.
package enum EventPiece {
    /// Bytes to be sent. They are never changed after this, so many connections can share one
    /// buffer.
    case bytes(OutputBuffer)
    /// Nothing to send at the moment: the connection sleeps until the source wakes it.
    case nothing
    /// The response is complete.
    case end
}
