// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A run of bytes of the file that no node uses.
///
/// Position and length are multiples of 8, as those of nodes are. Source: docs/format.md, "Free space".
package struct FreeBlock: Sendable, Equatable {
    /// The offset in the file of the block's first byte.
    package var position: Int
    /// The length of the block in bytes.
    package var byteCount: Int

    /// Makes a block from its position and length, both multiples of 8.
    package init(position: Int, byteCount: Int) {
        self.position = position
        self.byteCount = byteCount
    }

    /// The offset in the file after the block's last byte.
    var end: Int { position + byteCount }
}
