// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of booleans: an element of 0 is false, 3 is null, anything else is true.
///
/// Elements take two bits where any value of the leaf is null, else one, or none where all are
/// false. Source: docs/format.md, "Bool".
package struct BoolLeaf: Sendable {
    /// One element per value: 0, 1, or 3 for null.
    package let elements: PackedIntegers
    package static let nullElement: Int64 = 3
    /// How many booleans the leaf has, nulls included.
    package var count: Int { elements.count }

    /// Attaches a leaf of booleans.
    ///
    /// - Throws: `.corrupt` for a node with refs, or one that does not hold integers.
    package init(_ node: Node) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("expected a leaf of booleans, found a node with refs") }
        elements = try node.integers()
    }

    /// Returns the boolean in `row`, or nil for null. The row must be in `0..<count`.
    @inlinable package func bool(_ row: Int) -> Bool? {
        let element = elements[row]
        return element == 3 ? nil : element != 0
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value { bool(row).map(Value.bool) ?? .null }
}
