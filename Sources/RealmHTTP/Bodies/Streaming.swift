// SPDX-License-Identifier: Apache-2.0

/// Sizes of streamed answers.
package enum Streaming {
    /// What a producer aims for in one call.
    package static let chunkBytes = 64 << 10
    /// Finished chunks that wait for the client before the producer rests.
    package static let queuedChunks = 4
}
