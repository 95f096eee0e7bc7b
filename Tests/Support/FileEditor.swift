// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
package import RealmStorage

/// Changes single fields of a file in memory, to make exactly one kind of damage.
///
/// Works on plain files in normal or streaming form whose nodes have the usual layout; a path that is not there traps,
/// which is an error in a test.
package struct FileEditor {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The offset of the top node.
    package var top: Int {
        let slot = Int(bytes[23] & 1)
        let ref = number(at: 8 * slot, byteCount: 8)
        return Int(ref == .max ? number(at: bytes.count - 16, byteCount: 8) : ref)
    }

    package func number(at offset: Int, byteCount: Int) -> UInt64 {
        (0..<byteCount).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    package mutating func set(_ value: UInt64, at offset: Int, byteCount: Int) {
        for index in 0..<byteCount { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
    }

    // MARK: - Nodes

    package func width(_ node: Int) -> Int { (1 << Int(bytes[node + 4] & 7)) >> 1 }
    package func count(_ node: Int) -> Int { Int(bytes[node + 5]) << 16 | Int(bytes[node + 6]) << 8 | Int(bytes[node + 7]) }

    package mutating func setCount(_ node: Int, _ count: Int) {
        for step in 0..<3 { bytes[node + 5 + step] = UInt8(truncatingIfNeeded: count >> (16 - 8 * step)) }
    }

    /// Element `index` of a bit-packed node as an unsigned number.
    package func element(_ node: Int, _ index: Int) -> UInt64 {
        let width = width(node)
        if width == 0 { return 0 }
        if width < 8 {
            let bit = index * width
            return UInt64(bytes[node + 8 + bit / 8] >> UInt8(bit % 8)) & ((1 << UInt64(width)) - 1)
        }
        return number(at: node + 8 + index * width / 8, byteCount: width / 8)
    }

    package mutating func setElement(_ node: Int, _ index: Int, _ value: UInt64) {
        let width = width(node)
        precondition(width > 0, "a node of width 0 has no elements to change")
        guard width < 8 else { return set(value, at: node + 8 + index * width / 8, byteCount: width / 8) }
        let bit = index * width
        let mask = UInt8((1 << UInt64(width)) - 1) << UInt8(bit % 8)
        bytes[node + 8 + bit / 8] =
            bytes[node + 8 + bit / 8] & ~mask | (UInt8(truncatingIfNeeded: value) << UInt8(bit % 8) & mask)
    }

    /// The node that slot `index` refers to.
    package func child(_ node: Int, _ index: Int) -> Int {
        let ref = element(node, index)
        precondition(ref & 1 == 0 && ref != 0, "slot \(index) of node \(node) is no ref")
        return Int(ref)
    }

    /// Adds a node behind everything else and returns where. Bytes that fill a page are neither used nor free then.
    package mutating func append(flags: UInt8, widthCode: UInt8, _ values: [Int64]) -> Int {
        while bytes.count % 8 != 0 { bytes.append(0) }
        let node = bytes.count
        bytes += [
            0x41, 0x41, 0x41, 0x41, flags | widthCode, 0, UInt8(values.count >> 8), UInt8(truncatingIfNeeded: values.count),
        ]
        for value in values {
            for step in 0..<(1 << Int(widthCode)) >> 4 { bytes.append(UInt8(truncatingIfNeeded: value >> Int64(8 * step))) }
        }
        while bytes.count % 4096 != 0 { bytes.append(0) }
        setElement(top, 2, UInt64(bytes.count) << 1 | 1)
        return node
    }

    /// Lets slot `index` of the node at the end of `path` from the top refer to `ref`, in wider copies of nodes that have no
    /// room for it.
    package mutating func relink(_ path: [Int], _ index: Int, to ref: Int) {
        var node = top
        for step in path { node = child(node, step) }
        if width(node) >= 32 { return setElement(node, index, UInt64(ref)) }
        var values = (0..<count(node)).map { Int64(element(node, $0)) }
        values[index] = Int64(ref)
        let copy = append(flags: bytes[node + 4] & 0xf8, widthCode: 7, values)
        guard let last = path.last else { return }
        relink(Array(path.dropLast()), last, to: copy)
    }

    // MARK: - The way to a place

    package var tables: Int { child(top, 1) }

    /// The top node of the table whose class has this name.
    package func table(_ className: String, in snapshot: Snapshot) -> Int {
        guard let table = snapshot.classTable(named: className) else { preconditionFailure("no class \(className)") }
        return child(tables, table.key.position)
    }

    /// The first leaf of a table's cluster tree.
    package func leaf(_ table: Int) -> Int {
        var node = child(table, 2)
        while bytes[node + 4] & 0x80 != 0 { node = child(node, 3) }
        return node
    }

    /// The node with a column's values in the first leaf.
    package func values(_ className: String, _ property: String, in snapshot: Snapshot) -> Int {
        guard let column = snapshot.classTable(named: className)?.column(named: property) else {
            preconditionFailure("no property \(className).\(property)")
        }
        return child(leaf(table(className, in: snapshot)), 1 + column.leafIndex)
    }
}
