// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The checksum of a history of commits: that of its last record, which covers all before it.
package struct LogChecksum: Sendable, Hashable {
    /// The 32 bytes, eight to a word, the first byte lowest.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    package static let byteCount = 32

    /// Makes a checksum of its bytes; nil unless there are 32.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == LogChecksum.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[8 * index..<8 * index + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }
    }

    /// Returns whether two checksums are the same.
    package static func == (left: LogChecksum, right: LogChecksum) -> Bool { left.words == right.words }

    /// Feeds the checksum to a hasher.
    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
