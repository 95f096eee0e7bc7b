// SPDX-License-Identifier: Apache-2.0

/// The file offset of a node; a multiple of 8, at least 24. Zero means "none".
///
/// Refs are compared as unsigned numbers. Source: docs/format.md, "Conventions".
package struct Ref: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The null ref: an empty tree, an empty collection, or nothing at all.
    package static let none = Ref(0)

    @inlinable package var isNone: Bool { rawValue == 0 }

    @inlinable package static func < (left: Ref, right: Ref) -> Bool { left.rawValue < right.rawValue }

    package var description: String { "0x" + String(rawValue, radix: 16) }
}
