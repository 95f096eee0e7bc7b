// SPDX-License-Identifier: Apache-2.0

/// Integers. A nullable leaf has one more element in front, the null marker: a value equal to it is null.
///
/// Source: docs/format.md, "Int".
package struct IntLeaf: Sendable {
    /// All stored elements, with the null marker at index 0 when `isNullable`.
    package let elements: PackedIntegers
    package let isNullable: Bool
    /// Element 0 of a nullable leaf; meaningless otherwise.
    package let nullMarker: Int64
    package let count: Int

    package init(_ node: Node, isNullable: Bool) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("integer leaf expected, found a node with refs") }
        elements = try node.integers()
        self.isNullable = isNullable
        guard isNullable else {
            nullMarker = 0
            count = elements.count
            return
        }
        guard elements.count >= 1 else { throw node.corrupt("a nullable integer leaf without its null marker") }
        nullMarker = elements[0]
        count = elements.count - 1
    }

    /// Where value 0 stands in `elements`.
    @inlinable package var start: Int { isNullable ? 1 : 0 }

    @inlinable @inline(__always) package func integer(_ row: Int) -> Int64? {
        guard isNullable else { return elements[row] }
        let value = elements[row + 1]
        return value == nullMarker ? nil : value
    }

    @inlinable package func value(_ row: Int) -> Value { integer(row).map(Value.int) ?? .null }
}

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

/// Single-precision numbers; null is the NaN with the bits 7fc000aa.
package struct FloatLeaf: Sendable {
    package static let nullBits: UInt32 = 0x7fc0_00aa
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

/// Double-precision numbers; null is the NaN with the bits 7ff80000000000aa.
package struct DoubleLeaf: Sendable {
    package static let nullBits: UInt64 = 0x7ff8_0000_0000_00aa
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

/// Dates: a nullable integer node of seconds beside a plain one of nanoseconds.
package struct TimestampLeaf: Sendable {
    package let seconds: IntLeaf
    package let nanoseconds: PackedIntegers
    package var count: Int { seconds.count }

    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        guard node.hasRefs, !node.isInner, node.count == 2 else {
            throw node.corrupt("a timestamp leaf is a node of two refs")
        }
        seconds = try IntLeaf(try space.node(at: try node.requiredRef(0, "seconds")), isNullable: true)
        let second = try space.node(at: try node.requiredRef(1, "nanoseconds"))
        guard !second.hasRefs else { throw second.corrupt("nanoseconds are a plain integer node") }
        nanoseconds = try second.integers()
        guard nanoseconds.count == seconds.count else {
            throw node.corrupt("\(seconds.count) seconds with \(nanoseconds.count) nanoseconds")
        }
    }

    /// Joins both parts, which have as many elements.
    package init(seconds: IntLeaf, nanoseconds: PackedIntegers) {
        precondition(seconds.count == nanoseconds.count, "seconds and nanoseconds differ in number")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Throws `.corrupt` for nanoseconds out of range or of the other sign.
    @inlinable package func timestamp(_ row: Int) throws(StorageError) -> Timestamp? {
        guard let whole = seconds.integer(row) else { return nil }
        let part = nanoseconds[row]
        guard part > -1_000_000_000, part < 1_000_000_000, part == 0 || whole == 0 || (part < 0) == (whole < 0) else {
            throw .corrupt(ref: .none, reason: "a date with \(whole) seconds and \(part) nanoseconds")
        }
        return Timestamp(seconds: whole, nanoseconds: Int32(truncatingIfNeeded: part))
    }

    @inlinable package func value(_ row: Int) throws(StorageError) -> Value {
        try timestamp(row).map(Value.timestamp) ?? .null
    }
}

extension Node {
    /// Checks for width type "multiply" with elements of `byteCount`; an empty node may have width 0.
    func requireFixedWidth(_ byteCount: Int, _ what: String) throws(StorageError) {
        guard widthType == WidthType.multiply.rawValue, !hasRefs, width == byteCount || count == 0 else {
            throw corrupt("a \(what) leaf has elements of \(byteCount) bytes")
        }
    }
}
