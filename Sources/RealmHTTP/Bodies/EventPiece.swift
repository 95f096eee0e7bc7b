// SPDX-License-Identifier: Apache-2.0

/// What a source of events has to say when it is asked.
package enum EventPiece {
    /// Bytes to be sent; never changed any more, so that many connections may share them.
    case bytes(OutputBuffer)
    /// Nothing until the line is woken.
    case nothing
    /// The end of the answer.
    case end
}
