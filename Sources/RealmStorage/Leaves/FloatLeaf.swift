// SPDX-License-Identifier: Apache-2.0

/// Single-precision numbers; null is the NaN with the bits 7fc000aa.
package struct FloatLeaf: Sendable {
    package static let nullBits = UInt32(bitPattern: Float.nullBits)
    package let node: Node
    package var count: Int { node.count }

    package init(_ node: Node) throws(StorageError) {
        try node.requireFixedWidth(4, "float")
        self.node = node
    }

    @inlinable package func float(_ row: Int) -> Float? {
        let bits = node.load(byteOffset: row << 2, as: UInt32.self)
        return bits == FloatLeaf.nullBits ? nil : Float(bitPattern: bits)
    }

    @inlinable package func value(_ row: Int) -> Value { float(row).map(Value.float) ?? .null }
}
