// SPDX-License-Identifier: Apache-2.0

/// Writes files of format 9 in the streaming form, for what no engine would write.
struct OldFileWriter {
    private(set) var bytes: [UInt8] =
        Array(repeating: 0xff, count: 8) + Array(repeating: 0, count: 8) + Array("T-DB".utf8) + [9, 0, 0, 0]
    private var names: [[UInt8]] = []
    private var tables: [Int64] = []

    /// A column of a table.
    struct Column {
        var type: Int64
        var name: [UInt8]
        var attributes: Int64 = 0
        var root: Int64
        /// What the column has in the list of subspecs.
        var subspecs: [Int64] = []

        init(_ type: Int64, _ name: String, _ root: Int64, attributes: Int64 = 0, subspecs: [Int64] = []) {
            (self.type, self.name, self.root) = (type, Array(name.utf8), root)
            (self.attributes, self.subspecs) = (attributes, subspecs)
        }
    }

    /// Adds a node and returns its ref.
    mutating func node(_ flags: UInt8, _ count: Int, _ payload: [UInt8]) -> Int64 {
        let ref = Int64(bytes.count)
        bytes += [0x41, 0x41, 0x41, 0x41, flags, UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
        bytes += payload + Array(repeating: 0, count: -payload.count & 7)
        return ref
    }

    mutating func integers(_ values: [Int64], flags: UInt8 = 0) -> Int64 {
        node(flags | 7, values.count, values.flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } })
    }

    mutating func refs(_ values: [Int64], flags: UInt8 = 0) -> Int64 { integers(values, flags: 0x40 | flags) }

    mutating func shortStrings(_ texts: [[UInt8]]) -> Int64 {
        let width = texts.allSatisfy { $0.count < 16 } ? 16 : 64
        var cells: [UInt8] = []
        for text in texts {
            let padding = width - 1 - text.count
            cells += text + [UInt8](repeating: 0, count: padding) + [UInt8(padding)]
        }
        return node(0x08 | (width == 16 ? 5 : 7), texts.count, cells)
    }

    /// Adds a tree of leaves of 1000 numbers; with `isGeneral` it has offsets.
    mutating func tree(_ values: [Int64], leafFlags: UInt8 = 0, isGeneral: Bool = false) -> Int64 {
        guard values.count > 1000 else { return integers(values, flags: leafFlags) }
        var children: [Int64] = []
        for start in stride(from: 0, to: values.count, by: 1000) {
            children.append(integers(Array(values[start..<min(start + 1000, values.count)]), flags: leafFlags))
        }
        let first = isGeneral ? integers((1..<children.count).map { Int64($0) * 1000 }) : 1000 << 1 | 1
        return refs([first] + children + [Int64(values.count) << 1 | 1], flags: 0x80)
    }

    /// Adds a table.
    mutating func table(_ name: String, _ columns: [Column]) { table(Array(name.utf8), columns) }

    /// Adds a table whose name is some bytes.
    mutating func table(_ name: [UInt8], _ columns: [Column]) {
        let subspecs = columns.flatMap(\.subspecs)
        var spec = [integers(columns.map(\.type))]
        spec.append(shortStrings(columns.filter { $0.type != 14 }.map(\.name)))
        spec.append(integers(columns.map(\.attributes)))
        if !subspecs.isEmpty { spec.append(refs(subspecs)) }
        names.append(name)
        tables.append(refs([refs(spec), refs(columns.map(\.root))]))
    }

    /// Adds a table whose node was added before.
    mutating func table(_ name: String, at ref: Int64) {
        names.append(Array(name.utf8))
        tables.append(ref)
    }

    /// Adds bytes that are not used.
    mutating func room(_ byteCount: Int) { _ = node(0x10, byteCount, [UInt8](repeating: 0, count: byteCount)) }

    /// Adds a table with an enumerated column.
    ///
    /// - Parameters:
    ///   - column: The name of the column.
    ///   - keys: The distinct strings.
    ///   - positions: The root of the column.
    ///   - others: The columns after it, which are not enumerated.
    mutating func table(_ name: String, enumerated column: String, keys: Int64, _ positions: Int64, _ others: [Column] = []) {
        let types = integers([3] + others.map(\.type)), attributes = integers([0] + others.map(\.attributes))
        let spec = refs([types, shortStrings([Array(column.utf8)] + others.map(\.name)), attributes, 0, refs([keys])])
        table(name, at: refs([spec, refs([positions] + others.map(\.root))]))
    }

    /// Adds the top node and the footer, and returns the file; with a type of history the node has slots for versions and histories.
    mutating func finish(historyType: Int64? = nil) -> [UInt8] {
        let (first, second) = (shortStrings(names), refs(tables))
        let more: [Int64] = historyType.map { (type: Int64) -> [Int64] in [0, 0, 0, 3, type << 1 | 1, 0, 1] } ?? []
        let size = Int64(bytes.count + 32 + 8 * more.count)
        let top = refs([first, second, size << 1 | 1] + more)
        for word in [UInt64(top), 0x3034_1252_37e5_26c8] { bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        return bytes
    }
}
