// SPDX-License-Identifier: Apache-2.0

/// The file offset of a node, a multiple of 8 of at least 24. Zero means "none".
///
/// Refs are compared as unsigned numbers. Source: docs/format.md, "Conventions".
package struct Ref: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The offset in the file, or for a node of the running transaction a number beyond any file.
    package let rawValue: UInt64

    /// Makes a ref from its stored number, unchecked: `NodeSpace.node(at:)` proves that a node can be there.
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The null ref: an empty tree, an empty collection, or nothing at all.
    package static let none = Ref(0)

    /// Whether this is `Ref.none`.
    @inlinable @inline(__always) package var isNone: Bool { rawValue == 0 }

    /// Compares offsets; derived by the compiler it would not be inlined in other modules.
    @inlinable @inline(__always) package static func == (left: Ref, right: Ref) -> Bool { left.rawValue == right.rawValue }

    /// Compares offsets as unsigned numbers.
    @inlinable package static func < (left: Ref, right: Ref) -> Bool { left.rawValue < right.rawValue }

    /// The offset in hexadecimal digits, as error messages show it.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
