// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Long texts, of which a table takes one piece after the other, or the first one only.
extension ByteView {
    /// Returns a piece of a text, which splits no character.
    ///
    /// - Parameters:
    ///   - position: Where the piece begins.
    ///   - byteCount: The greatest length of the piece, at least 4.
    /// - Returns: The piece, which has less than three bytes fewer than `byteCount` unless it is the last one.
    func piece(from position: Int, byteCount: Int) -> ByteView {
        let end = position + byteCount
        guard end < count else { return suffix(from: position) }
        // A character has at most three bytes after its first one.
        let first = stride(from: end, to: max(position, end - 4), by: -1).first { self[$0] & 0xc0 != 0x80 }
        return slice(position, first ?? end)
    }
}
