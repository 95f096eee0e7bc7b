// SPDX-License-Identifier: Apache-2.0

/// Booleans: 0 false, 3 null, anything else true.
package struct BoolLeaf: Sendable {
    package let elements: PackedIntegers
    package var count: Int { elements.count }

    package init(_ node: Node) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("boolean leaf expected, found a node with refs") }
        elements = try node.integers()
    }

    @inlinable package func bool(_ row: Int) -> Bool? {
        let element = elements[row]
        return element == 3 ? nil : element != 0
    }

    @inlinable package func value(_ row: Int) -> Value { bool(row).map(Value.bool) ?? .null }
}
