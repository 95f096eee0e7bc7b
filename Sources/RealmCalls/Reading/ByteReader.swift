// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Reads fixed parts off the front of some bytes: the inverse of how a `PageCursor` is written.
///
/// Every function returns nil when the bytes do not suffice, because they come from a client.
struct ByteReader {
    /// The bytes of the cursor that were not read yet.
    private var rest: ArraySlice<UInt8>

    /// Creates a reader at the beginning of `bytes`.
    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes were read, so that nothing follows the last part.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next byte; nil at the end.
    package mutating func byte() -> UInt8? { rest.popFirst() }

    /// Reads eight bytes as a number, the least significant byte first; nil when there are fewer.
    package mutating func word() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads bytes that have their count, a word, in front; nil when they are not all there.
    package mutating func bytes() -> [UInt8]? {
        guard let count = word(), count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }
}
