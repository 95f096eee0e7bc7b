// SPDX-License-Identifier: Apache-2.0

/// A buffer as long as the daemon sends it.
final class BufferInTransit {
    private let buffer: OutputBuffer
    private let holding: ByteHolding?

    /// Keeps a buffer and its part of the memory for answers until the daemon has sent it.
    init(_ buffer: OutputBuffer, _ holding: ByteHolding?) {
        self.buffer = buffer
        self.holding = holding
    }
}
