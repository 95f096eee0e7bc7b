// SPDX-License-Identifier: Apache-2.0

/// A run of bytes of the file that no node uses.
///
/// Both numbers are multiples of 8, as all nodes are. Source: docs/format.md, "Free space".
package struct FreeBlock: Sendable, Equatable {
    /// The offset of the first byte.
    package var position: Int
    /// The length in bytes.
    package var byteCount: Int

    /// A block of the file.
    package init(position: Int, byteCount: Int) {
        self.position = position
        self.byteCount = byteCount
    }

    /// The offset after the last byte.
    var end: Int { position + byteCount }
}
