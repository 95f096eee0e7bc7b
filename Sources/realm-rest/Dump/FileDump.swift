// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
import RealmHTTP
import RealmLegacy
internal import RealmPlatform
import RealmStorage

/// Writes the complete contents of a file as one JSON document: schema, objects, tombstones and incoming links.
///
/// The document shows the stored values, including unresolved links and internal tables. It is for checking files, and is not the
/// representation of the HTTP interface. The command `dump` streams it, so that its size does not matter.
struct FileDump {
    /// The version of the file that is written.
    private let snapshot: Snapshot
    /// The old file that the version was converted from; nil for other versions.
    private let original: LegacyFile?
    /// The JSON text that was not passed on yet; at most about 64 KiB, and the escapes of as many bytes.
    private var writer = JSONWriter(reservingCapacity: 1 << 16)
    /// Receives the pieces of the text in their order.
    private let emit: ([UInt8]) throws -> Void
    /// The number of nodes that all collections together may visit, so that a damaged file cannot cause an endless walk.
    private let budget: WalkBudget

    /// Makes a dump of a version.
    ///
    /// - Parameters:
    ///   - snapshot: The version to write.
    ///   - original: The file of formats 2 to 9 that the version was converted from. The member `file` describes it.
    ///   - emit: Receives the pieces of the text in their order.
    init(_ snapshot: Snapshot, of original: LegacyFile? = nil, emit: @escaping ([UInt8]) throws -> Void) {
        self.snapshot = snapshot
        self.original = original
        self.emit = emit
        budget = WalkBudget(snapshot.space)
    }

    /// Writes the whole document.
    ///
    /// - Throws: `StorageError` when a part of the file is damaged, and the errors of `emit`.
    ///   The text ends in the middle then.
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
        try writer.handOn(atLeast: 0, to: emit)
    }

    /// Writes the member `file`: the file format and the most important fields of the top node.
    ///
    /// Fields that the top node of this file does not have are null.
    private mutating func writeFile() {
        let file = original?.file ?? snapshot.file
        let top = original == nil ? snapshot.top : original?.top
        writer.beginObject()
        writer.key("format")
        writer.int(file.header.fileFormat)
        writer.key("encrypted")
        writer.bool(file.isEncrypted)
        writer.key("streamingForm")
        writer.bool(file.header.isStreaming)
        writer.key("logicalSize")
        writer.int(top?.logicalSize ?? UInt64(file.plainByteCount))
        writer.key("snapshot")
        optional(top?.statedVersion)
        writer.key("historyType")
        writer.int(top?.historyType ?? 0)
        writer.key("syncFileId")
        optional(top?.statedSyncFileID)
        writer.endObject()
    }

    /// Writes a number, or null for nil.
    private mutating func optional(_ number: UInt64?) {
        if let number { writer.int(number) } else { writer.null() }
    }

    // MARK: - Tables

    /// Writes one table with its columns, objects and tombstones.
    ///
    /// - Parameter table: A table of the snapshot, internal ones included.
    /// - Throws: `StorageError` when an object of the table cannot be read, and the errors of
    ///   the closure that receives the text.
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

    /// Writes the description of one column: type, nullability, link target and indexes.
    ///
    /// - Parameter column: A column of the table, without the hidden ones for incoming links.
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

    /// Writes a member with all objects of a cluster tree.
    ///
    /// - Parameters:
    ///   - name: The name of the member: `objects` or `tombstones`.
    ///   - table: The table that the tree belongs to.
    ///   - tree: The objects, which are read leaf by leaf.
    /// - Throws: `StorageError` when the tree or one of its objects is damaged.
    private mutating func writeObjects(_ name: String, _ table: Table, _ tree: ClusterTree) throws {
        writer.key(name)
        writer.beginArray()
        var cursor = tree.leaves()
        while let leaf = try cursor.next() {
            let cells = try LeafCells(table, leaf)
            for row in 0..<leaf.count {
                try write(row, of: leaf, in: table, cells)
                try writer.handOn(to: emit)
            }
        }
        writer.endArray()
    }

    /// The columns of one leaf, attached once for all of its rows.
    private struct LeafCells {
        /// Each column of the table with its leaf; nil for a collection, which each row has for itself.
        var columns: [(column: Column, leaf: ColumnLeaf?)] = []

        /// Attaches all columns of a leaf that have single values.
        ///
        /// - Parameters:
        ///   - table: The table that the leaf belongs to.
        ///   - leaf: The leaf with the objects.
        /// - Throws: `StorageError` when a column of the leaf is damaged.
        init(_ table: Table, _ leaf: ClusterLeaf) throws {
            for column in table.columns {
                columns.append((column, column.collection == nil ? try leaf.attach(column) : nil))
            }
        }
    }

    /// Writes one object: its key, its values by property, and its incoming links.
    ///
    /// - Parameters:
    ///   - leaf: The leaf that contains the object.
    ///   - cells: The attached columns of the leaf.
    /// - Throws: `StorageError` when one of the values is damaged.
    private mutating func write(_ row: Int, of leaf: ClusterLeaf, in table: Table, _ cells: LeafCells) throws {
        writer.beginObject()
        writer.key("key")
        writer.int(leaf.key(at: row).rawValue)
        writer.key("values")
        writer.beginObject()
        var values = ValueDump(snapshot, budget, emit: emit)
        for (column, single) in cells.columns {
            writer.key(column.name)
            if let single {
                try values.write(single, row, isTagged: column.type == .mixed, into: &writer)
            } else {
                try values.writeCollection(column, try leaf.collectionRoot(column, row: row), into: &writer)
            }
            try writer.handOn(to: emit)
        }
        writer.endObject()
        try writeBacklinks(leaf, row, table)
        writer.endObject()
    }

    /// Writes the keys of the objects that link to an object.
    ///
    /// They are grouped by the linking table and property, in alphabetical order; properties without links are left out.
    ///
    /// - Parameters:
    ///   - leaf: The leaf that contains the object.
    /// - Throws: `StorageError` when the records of incoming links are damaged.
    private mutating func writeBacklinks(_ leaf: ClusterLeaf, _ row: Int, _ table: Table) throws {
        var incoming: [(label: String, links: BacklinkView)] = []
        for column in table.backlinks {
            let links = try leaf.backlinks(column, row: row)
            guard links.count > 0 else { continue }
            let origin = column.targetTable.flatMap { snapshot.table($0) }
            let source = column.oppositeColumn.flatMap { origin?.column($0) }
            incoming.append(("\(origin?.name ?? "?").\(source?.name ?? "?")", links))
        }
        writer.key("backlinks")
        writer.beginObject()
        for (label, links) in incoming.sorted(by: { $0.label < $1.label }) {
            writer.key(label)
            writer.beginArray()
            try links.forEachLeaf { keys in
                for key in keys { writer.int(key.rawValue) }
                try writer.handOn(to: emit)
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
