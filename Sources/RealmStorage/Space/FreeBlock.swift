// SPDX-License-Identifier: Apache-2.0

/// A run of bytes of the file that no node uses.
package struct FreeBlock: Sendable, Equatable {
    package var position: Int
    package var byteCount: Int

    package init(position: Int, byteCount: Int) {
        self.position = position
        self.byteCount = byteCount
    }

    var end: Int { position + byteCount }
}
