// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
package import RealmStorage

/// Reads everything a snapshot holds, nested collections and incoming links included.
package struct DeepRead {
    /// How many values were read.
    package private(set) var valueCount = 0
    private let snapshot: Snapshot
    /// A hostile file may nest collections so that each level multiplies the work; real ones stay far below this.
    private var budget: Int

    package init(_ snapshot: Snapshot, budget: Int = 5_000_000) {
        self.snapshot = snapshot
        self.budget = budget
    }

    package mutating func run() throws {
        for table in snapshot.tables {
            try read(table, table.objects)
            try read(table, table.tombstones)
        }
    }

    private mutating func read(_ table: Table, _ tree: ClusterTree) throws {
        var cursor = tree.leaves()
        while let leaf = try cursor.next() {
            for column in table.columns { try read(column, leaf) }
            for column in table.backlinks {
                for row in 0..<leaf.count { valueCount += try leaf.backlinks(column, row: row).keys().count }
            }
            for row in 0..<leaf.count { _ = try table.find(leaf.key(at: row)) }
        }
    }

    private mutating func read(_ column: Column, _ leaf: ClusterLeaf) throws {
        guard let collection = column.collection else {
            let values = try leaf.attach(column)
            for row in 0..<leaf.count { try read(try values.value(row), depth: 0) }
            return
        }
        for row in 0..<leaf.count {
            let root = try leaf.collectionRoot(column, row: row)
            switch collection {
            case .dictionary: try readDictionary(root, column.dictionaryKeyType, depth: 0)
            case .list, .set: try readList(root, column.elementShape, depth: 0)
            }
        }
    }

    private mutating func read(_ value: Value, depth: Int) throws {
        valueCount += 1
        budget -= 1
        guard budget > 0, depth <= 128 else { throw StorageError.corrupt(ref: .none, reason: "too many values to read") }
        switch value {
        case .string(let bytes), .binary(let bytes): _ = bytes.count > 0 ? bytes[bytes.count - 1] : 0
        case .list(let root): try readList(root, .mixed, depth: depth + 1)
        case .dictionary(let root): try readDictionary(root, .string, depth: depth + 1)
        default: break
        }
    }

    private mutating func readList(_ root: Ref, _ shape: ElementShape, depth: Int) throws {
        var elements = try ListView(root: root, space: snapshot.space, shape: shape, mayHoldUnresolved: true).elements()
        while let value = try elements.next() { try read(value, depth: depth) }
    }

    private mutating func readDictionary(_ root: Ref, _ keyType: ColumnType, depth: Int) throws {
        let dictionary = try DictionaryView(
            root: root, space: snapshot.space, keyType: keyType, fileFormat: snapshot.fileFormat)
        var entries = dictionary.entries()
        while let entry = try entries.next() {
            _ = entry.key.bytes.hashValue
            try read(entry.value, depth: depth)
        }
    }
}
