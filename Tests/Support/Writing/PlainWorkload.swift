// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Tables made of bare nodes, changed at random, with a plain model of what they must hold.
///
/// Each table is a class with an integer and a binary property, all of its objects in one leaf. Nothing above nodes and
/// commits takes part, so whatever goes wrong is theirs.
package struct PlainWorkload: Sendable {
    package struct Contents: Sendable, Equatable {
        package var name: String
        package var values: [Int64] = []
        package var blobs: [[UInt8]] = []
    }

    /// What the newest version must hold.
    package var tables: [Contents] = []
    /// The longest binary value.
    package var maximumBlob = 9000

    package init() {}

    /// The refs of the next version of both lists.
    package typealias Roots = (names: Ref, tables: Ref)

    /// Changes some tables; `tables` then tells what the version will hold once it is committed.
    package mutating func change(_ transaction: StoreWrite, using random: inout SeededGenerator) throws -> Roots {
        let top = transaction.base.top
        let nodes = transaction.nodes
        var roots: Roots = (top.names, top.tables)
        if top.ref.isNone {
            roots.names = try PlainWorkload.names([], nodes).ref
            roots.tables = try nodes.makeNode(.refs).ref
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            if tables.isEmpty || (tables.count < 12 && Int.random(in: 0..<8, using: &random) == 0) {
                try addTable(&roots, nodes, using: &random)
            } else {
                try changeTable(Int.random(in: 0..<tables.count, using: &random), &roots, nodes, using: &random)
            }
        }
        return roots
    }

    // MARK: - Changes

    private mutating func addTable(_ roots: inout Roots, _ nodes: WriteSpace, using random: inout SeededGenerator) throws {
        let name = "class_T\(tables.count)" + String(repeating: "x", count: Int.random(in: 0...40, using: &random))
        tables.append(Contents(name: name))
        try nodes.discard(roots.names)
        roots.names = try PlainWorkload.names(tables.map(\.name), nodes).ref
        var list = try nodes.writable(roots.tables)
        try list.append(try PlainWorkload.emptyTable(position: tables.count - 1, nodes))
        roots.tables = list.ref
    }

    private mutating func changeTable(
        _ position: Int, _ roots: inout Roots, _ nodes: WriteSpace, using random: inout SeededGenerator
    ) throws {
        var list = try nodes.writable(roots.tables)
        var table = try nodes.writable(list.ref(position))
        var cluster = try nodes.writable(table.ref(2))
        var values = try nodes.writable(cluster.ref(1))
        var blobs = try nodes.writable(cluster.ref(2))
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            try changeRow(&tables[position], &values, &blobs, nodes, using: &random)
        }
        try cluster.set(0, tagged: UInt64(tables[position].values.count))
        try cluster.set(1, values.ref)
        try cluster.set(2, blobs.ref)
        try table.set(2, cluster.ref)
        try table.set(6, tagged: UInt64(bitPattern: table.integer(6)) >> 1 + 1)
        try list.set(position, table.ref)
        roots.tables = list.ref
    }

    private func changeRow(
        _ contents: inout Contents, _ values: inout MutableNode, _ blobs: inout MutableNode, _ nodes: WriteSpace,
        using random: inout SeededGenerator
    ) throws {
        let count = contents.values.count
        let row = Int.random(in: 0...max(count - 1, 0), using: &random)
        let value = Int64.random(in: -(1 << 40)...(1 << 40), using: &random) >> Int64.random(in: 0..<41, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2 where count > 0:
            contents.values[row] = value
            try values.set(row, value)
        case 3...5 where count > 0:
            let bytes = blob(using: &random)
            contents.blobs[row] = bytes
            try nodes.discard(blobs.ref(row))
            try blobs.set(row, try PlainWorkload.blob(bytes, nodes))
        case 6...7 where count > 0, 8 where count > 40:
            contents.values.remove(at: row)
            contents.blobs.remove(at: row)
            try nodes.discard(blobs.ref(row))
            values.removeInteger(at: row)
            blobs.removeInteger(at: row)
        default:
            let bytes = blob(using: &random)
            contents.values.insert(value, at: row)
            contents.blobs.insert(bytes, at: row)
            try values.insert(value, at: row)
            try blobs.insert(try PlainWorkload.blob(bytes, nodes), at: row)
        }
    }

    /// Adds one row with the value 0 to a table of the newest version.
    package mutating func appendRow(_ blob: [UInt8], to position: Int, _ transaction: StoreWrite) throws -> Roots {
        let nodes = transaction.nodes
        var list = try nodes.writable(transaction.base.top.tables)
        var table = try nodes.writable(list.ref(position))
        var cluster = try nodes.writable(table.ref(2))
        var values = try nodes.writable(cluster.ref(1))
        var blobs = try nodes.writable(cluster.ref(2))
        try values.append(0)
        try blobs.append(try PlainWorkload.blob(blob, nodes))
        tables[position].values.append(0)
        tables[position].blobs.append(blob)
        try cluster.set(0, tagged: UInt64(tables[position].values.count))
        try cluster.set(1, values.ref)
        try cluster.set(2, blobs.ref)
        try table.set(2, cluster.ref)
        try list.set(position, table.ref)
        return (transaction.base.top.names, list.ref)
    }

    private func blob(using random: inout SeededGenerator) -> [UInt8] {
        let count = Int.random(in: 0...maximumBlob, using: &random) >> Int.random(in: 0..<12, using: &random)
        let first = UInt8.random(in: .min ... .max, using: &random)
        return (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0 &* 7) }
    }

    // MARK: - Nodes

    private static func blob(_ bytes: [UInt8], _ nodes: WriteSpace) throws -> Ref {
        let storage = ByteStorage(bytes)
        return try withExtendedLifetime(storage) { try nodes.makeBlob(storage.view).ref }
    }

    private static func names(_ names: [String], _ nodes: WriteSpace) throws -> MutableNode {
        let longest = names.map(\.utf8.count).max() ?? 0
        var code = 1
        while (1 << code) >> 1 <= longest { code += 1 }
        let width = (1 << code) >> 1
        let node = try nodes.makeNode(.elements, widthCode: names.isEmpty ? 0 : code, count: names.count)
        for (index, name) in names.enumerated() {
            let storage = ByteStorage(name)
            withExtendedLifetime(storage) { node.store(storage.view, atByte: index * width) }
            node.store(UInt8(width - 1 - name.utf8.count), atByte: (index + 1) * width - 1)
        }
        return node
    }

    private static func emptyTable(position: Int, _ nodes: WriteSpace) throws -> Ref {
        func integers(_ values: [Int64]) throws -> Int64 { Int64(bitPattern: try nodes.makeIntegers(values).ref.rawValue) }
        func refs(_ values: [Int64]) throws -> Int64 { Int64(bitPattern: try nodes.makeIntegers(values, .refs).ref.rawValue) }
        let types: [Int64] = [Int64(ColumnType.int.rawValue), Int64(ColumnType.binary.rawValue)]
        let keys = types.enumerated().map { Int64($0) | $1 << 16 }
        let columnNames = Int64(bitPattern: try names(["value", "blob"], nodes).ref.rawValue)
        let spec = try refs([integers(types), columnNames, integers([0, 0]), 0, 0, integers(keys)])
        let blobs = Int64(bitPattern: try nodes.makeNode(.contextRefs).ref.rawValue)
        let cluster = try refs([MutableNode.tagged(0), integers([]), blobs])
        let none = Int64(TableKey.null.rawValue)
        return Ref(
            UInt64(
                bitPattern: try refs([
                    spec, 0, cluster, MutableNode.tagged(UInt64(position)), refs([0, 0]), MutableNode.tagged(2),
                    MutableNode.tagged(0),
                    integers([none, none]), integers([ColumnKey.null.rawValue, ColumnKey.null.rawValue]), 0, 0, 0,
                    MutableNode.tagged(0), 0,
                ])))
    }

    // MARK: - Comparing

    /// What a version holds.
    package static func contents(of snapshot: Snapshot) throws -> [Contents] {
        try snapshot.tables.map { table in
            var contents = Contents(name: table.name)
            guard let value = table.column(named: "value"), let blob = table.column(named: "blob") else { return contents }
            var cursor = table.leaves()
            while let leaf = try cursor.next() {
                let values = try leaf.attach(value)
                let blobs = try leaf.attach(blob)
                for row in 0..<leaf.count {
                    if case .int(let number) = try values.value(row) { contents.values.append(number) }
                    if case .binary(let bytes) = try blobs.value(row) { contents.blobs.append(bytes.array) }
                }
            }
            return contents
        }
    }
}
