// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of integers. A nullable leaf has one more element in front, the null marker: a value equal to it is null.
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

    /// Attaches a leaf of integers.
    ///
    /// - Parameters:
    ///   - node: The leaf, one node of integers.
    ///   - isNullable: Whether the column is nullable, and the first element therefore is the null
    ///     marker.
    /// - Throws: `.corrupt` for a node of another kind, or a nullable leaf without its marker.
    package init(_ node: Node, isNullable: Bool) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("expected a leaf of integers, found a node with refs") }
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

    /// Attaches the leaf of a column, which must not be an inner node.
    init(column node: Node, isNullable: Bool) throws(StorageError) {
        try node.requireLeaf()
        try self.init(node, isNullable: isNullable)
    }

    /// Checks that a nullable leaf has its first element, the null marker, and throws `.corrupt` otherwise.
    static func requireMarker(_ node: Node) throws(StorageError) {
        guard node.count >= 1 else { throw node.corrupt("a nullable integer leaf without its null marker") }
    }

    /// The index of value 0 in `elements`, which is 1 after a null marker.
    @inlinable package var start: Int { isNullable ? 1 : 0 }

    /// Returns the integer in `row`, or nil for null. The row must be in `0..<count`.
    @inlinable @inline(__always) package func integer(_ row: Int) -> Int64? {
        guard isNullable else { return elements[row] }
        let value = elements[row + 1]
        return value == nullMarker ? nil : value
    }

    /// Returns the value in `row`, which must be in `0..<count`.
    @inlinable package func value(_ row: Int) -> Value { integer(row).map(Value.int) ?? .null }
}
