// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The sizes of streamed responses.
package enum Streaming {
    /// How many bytes a producer should make in one call.
    package static let chunkBytes = 64 << 10
    /// How many finished chunks may wait for the client before the producer pauses.
    package static let queuedChunks = 4
}
