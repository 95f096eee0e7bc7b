// SPDX-License-Identifier: Apache-2.0

/// Identifies an object within its table.
///
/// Live objects have keys of 0 and above, -1 is the null link, and -2 or below names a tombstone
/// (an unresolved link). Source: docs/format.md, "Keys".
package struct ObjectKey: Hashable, Comparable, Sendable {
    package let rawValue: Int64

    @inlinable package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static let null = ObjectKey(-1)

    @inlinable package var isNull: Bool { rawValue == -1 }
    @inlinable package var isUnresolved: Bool { rawValue < -1 }

    @inlinable package static func < (left: ObjectKey, right: ObjectKey) -> Bool { left.rawValue < right.rawValue }
}
