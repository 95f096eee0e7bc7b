// SPDX-License-Identifier: Apache-2.0

/// Booleans: 0 false, 3 null, anything else true.
///
/// Stored in two bits where any value is null, else in one or none. Source: docs/format.md, "Bool".
package struct BoolLeaf: Sendable {
    /// One element per value: 0, 1, or 3 for null.
    package let elements: PackedIntegers
    /// How many values there are.
    package var count: Int { elements.count }

    /// Attaches a leaf of booleans. Throws `.corrupt` for another shape.
    package init(_ node: Node) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("boolean leaf expected, found a node with refs") }
        elements = try node.integers()
    }

    /// The boolean in `row`, or nil for null.
    @inlinable package func bool(_ row: Int) -> Bool? {
        let element = elements[row]
        return element == 3 ? nil : element != 0
    }

    /// The value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value { bool(row).map(Value.bool) ?? .null }
}
