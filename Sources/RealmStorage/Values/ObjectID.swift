// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An ObjectId: twelve bytes in the order of the usual hex text.
///
/// The two parts are numbers in big-endian order, so that comparing them is comparing the bytes.
/// Source: docs/format.md, "ObjectId, UUID".
package struct ObjectID: Hashable, Comparable, Sendable {
    /// The first eight bytes as a big-endian number.
    package let first: UInt64
    /// The last four bytes as a big-endian number.
    package let last: UInt32

    /// Makes an id from its two big-endian parts.
    @inlinable package init(first: UInt64, last: UInt32) {
        self.first = first
        self.last = last
    }

    /// Returns whether `left` sorts before `right` in the order of their bytes.
    @inlinable package static func < (left: ObjectID, right: ObjectID) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}

/// A UUID: sixteen bytes in the order of the usual hex text, as two big-endian words.
///
/// The two halves are big-endian numbers, so that comparing them is comparing the bytes. The
/// version and variant bits have no meaning here. Source: docs/format.md, "ObjectId, UUID".
package struct UUIDValue: Hashable, Comparable, Sendable {
    /// The first eight bytes as a big-endian number.
    package let first: UInt64
    /// The last eight bytes as a big-endian number.
    package let last: UInt64

    /// Makes a UUID from its two big-endian halves.
    @inlinable package init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }

    /// Returns whether `left` sorts before `right` in the order of their bytes.
    @inlinable package static func < (left: UUIDValue, right: UUIDValue) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}
