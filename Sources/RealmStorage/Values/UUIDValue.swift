// SPDX-License-Identifier: Apache-2.0

/// Sixteen bytes in the order of the usual hex text, as two big-endian words.
package struct UUIDValue: Hashable, Comparable, Sendable {
    package let first: UInt64
    package let last: UInt64

    @inlinable package init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }

    @inlinable package static func < (left: UUIDValue, right: UUIDValue) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}
