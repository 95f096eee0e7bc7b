// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Takes fixed parts off the front of some bytes.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    /// A reader at the beginning of `bytes`.
    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether everything was read.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next byte; nil at the end.
    mutating func byte() -> UInt8? { rest.popFirst() }

    /// The next eight bytes as a number; nil when there are fewer.
    mutating func word() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The next bytes with their count in front; nil when they are not all there.
    mutating func bytes() -> [UInt8]? {
        guard let count = word(), count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }
}
