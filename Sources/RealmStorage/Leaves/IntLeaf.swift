// SPDX-License-Identifier: Apache-2.0

/// Integers. A nullable leaf has one more element in front, the null marker: a value equal to it is null.
///
/// Source: docs/format.md, "Int".
package struct IntLeaf: Sendable {
    /// All stored elements, with the null marker at index 0 when `isNullable`.
    package let elements: PackedIntegers
    /// Whether the first element is the null marker.
    package let isNullable: Bool
    /// Element 0 of a nullable leaf; meaningless otherwise.
    package let nullMarker: Int64
    /// How many values there are, the null marker not counted.
    package let count: Int

    /// Attaches a leaf of integers. Throws `.corrupt` for another shape.
    package init(_ node: Node, isNullable: Bool) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("integer leaf expected, found a node with refs") }
        elements = try node.integers()
        self.isNullable = isNullable
        guard isNullable else {
            nullMarker = 0
            count = elements.count
            return
        }
        try IntLeaf.requireMarker(node)
        nullMarker = elements[0]
        count = elements.count - 1
    }

    /// Throws `.corrupt` for a nullable leaf without its first element, the null marker.
    static func requireMarker(_ node: Node) throws(StorageError) {
        guard node.count >= 1 else { throw node.corrupt("a nullable integer leaf without its null marker") }
    }

    /// Where value 0 is in `elements`.
    @inlinable package var start: Int { isNullable ? 1 : 0 }

    /// The integer in `row`, or nil for null.
    @inlinable @inline(__always) package func integer(_ row: Int) -> Int64? {
        guard isNullable else { return elements[row] }
        let value = elements[row + 1]
        return value == nullMarker ? nil : value
    }

    /// The value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value { integer(row).map(Value.int) ?? .null }
}
