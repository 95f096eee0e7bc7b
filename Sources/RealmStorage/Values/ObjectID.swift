// SPDX-License-Identifier: Apache-2.0

/// Twelve bytes in the order of the usual hex text: `first` holds bytes 0 to 7 big endian, `last` bytes 8 to 11.
///
/// The two parts are kept as numbers in big-endian order, so that comparing them is comparing the bytes.
/// Source: docs/format.md, "ObjectId, UUID".
package struct ObjectID: Hashable, Comparable, Sendable {
    /// The first eight bytes as a big-endian number.
    package let first: UInt64
    /// The last four bytes as a big-endian number.
    package let last: UInt32

    /// An id from its two big-endian parts.
    @inlinable package init(first: UInt64, last: UInt32) {
        self.first = first
        self.last = last
    }

    /// The order of the bytes.
    @inlinable package static func < (left: ObjectID, right: ObjectID) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}
