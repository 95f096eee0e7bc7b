// SPDX-License-Identifier: Apache-2.0

/// Twelve bytes in the order of the usual hex text: `first` holds bytes 0 to 7 big endian, `last` bytes 8 to 11.
package struct ObjectID: Hashable, Comparable, Sendable {
    package let first: UInt64
    package let last: UInt32

    @inlinable package init(first: UInt64, last: UInt32) {
        self.first = first
        self.last = last
    }

    @inlinable package static func < (left: ObjectID, right: ObjectID) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}
