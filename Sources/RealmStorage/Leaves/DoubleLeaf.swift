// SPDX-License-Identifier: Apache-2.0

/// Double-precision numbers; null is the NaN with the bits 7ff80000000000aa.
package struct DoubleLeaf: Sendable {
    package static let nullBits = UInt64(bitPattern: Double.nullBits)
    package let node: Node
    package var count: Int { node.count }

    package init(_ node: Node) throws(StorageError) {
        try node.requireFixedWidth(8, "double")
        self.node = node
    }

    @inlinable package func double(_ row: Int) -> Double? {
        let bits = node.load(byteOffset: row << 3, as: UInt64.self)
        return bits == DoubleLeaf.nullBits ? nil : Double(bitPattern: bits)
    }

    @inlinable package func value(_ row: Int) -> Value { double(row).map(Value.double) ?? .null }
}
