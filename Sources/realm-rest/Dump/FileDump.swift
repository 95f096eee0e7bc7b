// SPDX-License-Identifier: Apache-2.0

import RealmHTTP
import RealmStorage

/// Writes everything a file holds as one JSON document: schema, objects, tombstones, incoming links.
///
/// The document shows what is stored, unresolved links and internal tables included; it is for checking files and not
/// the representation of the HTTP interface. `realm-rest dump` streams it table by table.
struct FileDump {
    private let snapshot: Snapshot
    private var writer = JSONWriter(reservingCapacity: 1 << 16)
    private let emit: ([UInt8]) throws -> Void
    /// What all collections together may visit.
    private let budget: WalkBudget

    /// `emit` gets pieces of the text in order.
    init(_ snapshot: Snapshot, emit: @escaping ([UInt8]) throws -> Void) {
        self.snapshot = snapshot
        self.emit = emit
        budget = WalkBudget(snapshot.space)
    }

    mutating func run() throws {
        writer.beginObject()
        writer.key("file")
        writeFile()
        writer.key("schemaVersion")
        if let version = snapshot.schemaVersion { writer.int(version) } else { writer.null() }
        writer.key("tables")
        writer.beginArray()
        for table in snapshot.tables { try write(table) }
        writer.endArray()
        writer.endObject()
        writer.newLine()
        try flush(atLeast: 0)
    }

    private mutating func flush(atLeast byteCount: Int = 1 << 16) throws {
        guard writer.count >= byteCount else { return }
        try emit(writer.bytes)
        writer.forgetBytes()
    }

    private mutating func writeFile() {
        let top = snapshot.top
        writer.beginObject()
        writer.key("format")
        writer.int(snapshot.fileFormat)
        writer.key("encrypted")
        writer.bool(snapshot.file.isEncrypted)
        writer.key("streamingForm")
        writer.bool(snapshot.file.header.isStreaming)
        writer.key("logicalSize")
        writer.int(top.logicalSize)
        writer.key("snapshot")
        optional(top.ref.isNone || top.slotCount <= 6 ? nil : top.version)
        writer.key("historyType")
        writer.int(top.historyType)
        writer.key("syncFileId")
        optional(top.ref.isNone || top.slotCount <= 10 ? nil : top.syncFileID)
        writer.endObject()
    }

    private mutating func optional(_ number: UInt64?) {
        if let number { writer.int(number) } else { writer.null() }
    }

    // MARK: - Tables

    private mutating func write(_ table: Table) throws {
        writer.beginObject()
        writer.key("name")
        writer.string(table.name)
        writer.key("class")
        if let name = table.className { writer.string(name) } else { writer.null() }
        writer.key("key")
        writer.int(table.key.rawValue)
        writer.key("type")
        writer.string(String(describing: table.kind))
        writer.key("primaryKey")
        if let key = table.primaryKey { writer.string(key.name) } else { writer.null() }
        writer.key("columns")
        writer.beginArray()
        for column in table.columns { write(column) }
        writer.endArray()
        try writeObjects("objects", table, table.objects)
        try writeObjects("tombstones", table, table.tombstones)
        writer.endObject()
    }

    private mutating func write(_ column: Column) {
        writer.beginObject()
        writer.key("name")
        writer.string(column.name)
        writer.key("type")
        writer.string(column.type.name)
        writer.key("collection")
        if let collection = column.collection { writer.string(String(describing: collection)) } else { writer.null() }
        writer.key("nullable")
        writer.bool(column.isNullable)
        writer.key("columnKey")
        writer.int(column.key.rawValue)
        if column.type == .link {
            writer.key("target")
            if let target = column.targetTable.flatMap({ snapshot.table($0) }) {
                writer.string(target.name)
            } else {
                writer.null()
            }
        }
        if column.collection == .dictionary {
            writer.key("keyType")
            writer.string(column.dictionaryKeyType.name)
        }
        writer.key("hasIndex")
        writer.bool(column.hasSearchIndex)
        writer.key("fullTextIndex")
        writer.bool(column.declaredIndex == .fullText)
        writer.key("enumerated")
        writer.bool(column.enumeration != nil)
        writer.endObject()
    }

    // MARK: - Objects

    private mutating func writeObjects(_ name: String, _ table: Table, _ tree: ClusterTree) throws {
        writer.key(name)
        writer.beginArray()
        var cursor = tree.leaves()
        while let leaf = try cursor.next() {
            let cells = try LeafCells(table, leaf)
            for row in 0..<leaf.count {
                try write(row, of: leaf, in: table, cells)
                try flush()
            }
        }
        writer.endArray()
    }

    /// The columns of one leaf, attached once.
    private struct LeafCells {
        var columns: [(column: Column, leaf: ColumnLeaf?)] = []

        init(_ table: Table, _ leaf: ClusterLeaf) throws {
            for column in table.columns {
                columns.append((column, column.collection == nil ? try leaf.attach(column) : nil))
            }
        }
    }

    private mutating func write(_ row: Int, of leaf: ClusterLeaf, in table: Table, _ cells: LeafCells) throws {
        writer.beginObject()
        writer.key("key")
        writer.int(leaf.key(at: row).rawValue)
        writer.key("values")
        writer.beginObject()
        var values = ValueDump(snapshot, budget)
        for (column, single) in cells.columns {
            writer.key(column.name)
            if let single {
                try values.write(single, row, isTagged: column.type == .mixed, into: &writer)
            } else {
                try values.writeCollection(column, try leaf.collectionRoot(column, row: row), into: &writer)
            }
        }
        writer.endObject()
        try writeBacklinks(leaf, row, table)
        writer.endObject()
    }

    private mutating func writeBacklinks(_ leaf: ClusterLeaf, _ row: Int, _ table: Table) throws {
        var incoming: [(label: String, keys: [ObjectKey])] = []
        for column in table.backlinks {
            let keys = try leaf.backlinks(column, row: row).keys()
            guard !keys.isEmpty else { continue }
            let origin = column.targetTable.flatMap { snapshot.table($0) }
            let source = column.oppositeColumn.flatMap { origin?.column($0) }
            incoming.append(("\(origin?.name ?? "?").\(source?.name ?? "?")", keys))
        }
        writer.key("backlinks")
        writer.beginObject()
        for (label, keys) in incoming.sorted(by: { $0.label < $1.label }) {
            writer.key(label)
            writer.beginArray()
            for key in keys { writer.int(key.rawValue) }
            writer.endArray()
        }
        writer.endObject()
    }
}
