// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Identifies an object within its table.
///
/// Live objects have keys of 0 and above, -1 is the null link, and -2 or below names a tombstone
/// (an unresolved link). Source: docs/format.md, "Keys".
package struct ObjectKey: Hashable, Comparable, Sendable {
    /// The signed 64-bit number as it is stored in links and cluster trees.
    package let rawValue: Int64

    /// Makes a key from its stored number, of any sign.
    @inlinable package init(_ rawValue: Int64) { self.rawValue = rawValue }

    /// The key of a link to nothing.
    package static let null = ObjectKey(-1)

    /// The key of an object that does not exist. No object and no stored link has it, so it equals nothing, unlike `null`.
    package static let missing = ObjectKey(.min)

    /// Whether this is the key of a link to nothing.
    @inlinable package var isNull: Bool { rawValue == -1 }
    /// Whether this names a tombstone: an object that was deleted while others still link to it.
    @inlinable package var isUnresolved: Bool { rawValue < -1 }

    /// Compares keys; derived by the compiler it would not be inlined in other modules.
    @inlinable @inline(__always) package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.rawValue == right.rawValue
    }

    /// Compares keys as signed numbers. Cluster trees order them as unsigned ones instead.
    @inlinable @inline(__always) package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        left.rawValue < right.rawValue
    }
}
