// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The names and schemas of tables in all versions together.
final class TableCatalog {
    /// A table of a version.
    private struct Entry {
        /// The number of the version; nil for a table that no version leads to.
        let version: UInt64?
        let table: FormerTable
    }

    /// The tables by key, in the order in which they were found.
    private var entries: [UInt32: [Entry]] = [:]
    /// The keys in the order in which they were found.
    private(set) var keys: [UInt32] = []
    /// The names that positions of the list of tables have in any list that is still there.
    private var names: [Int: [String]] = [:]

    func add(_ table: FormerTable, version: UInt64?) {
        if entries[table.key] == nil { keys.append(table.key) }
        entries[table.key, default: []].append(Entry(version: version, table: table))
    }

    /// Returns the first table with a key; nil for none.
    func table(_ key: UInt32) -> FormerTable? { entries[key]?.first?.table }

    func known(_ key: UInt32) -> NodeReader.KnownTable {
        if let table = table(key) { return NodeReader.KnownTable(name: table.name, table: table) }
        let names = names[Int(key & 0xffff)] ?? []
        return NodeReader.KnownTable(name: names.count == 1 ? names[0] : nil, table: nil)
    }

    /// Returns whether a table at a place is known.
    func hasTable(_ key: UInt32, at ref: UInt64) -> Bool { entries[key]?.contains { $0.table.ref == ref } ?? false }

    /// Returns whether the objects of a table have a primary key in some version.
    func hasPrimaryKey(_ key: UInt32) -> Bool { entries[key]?.contains { $0.table.primaryKey != nil } ?? false }

    /// Returns the different schemas of a table.
    func schemas(_ key: UInt32) -> [FormerTable] {
        var schemas: [FormerTable] = []
        for entry in entries[key] ?? [] {
            let columns = entry.table.columns
            let isKnown = schemas.contains { known in
                known.columns.count == columns.count && zip(known.columns, columns).allSatisfy { $0.isAlike($1) }
            }
            if !isKnown { schemas.append(entry.table) }
        }
        return schemas
    }

    /// Returns the newest table with a key that a version leads to; nil for none.
    func newest(_ key: UInt32) -> FormerTable? {
        (entries[key] ?? []).filter { $0.version != nil }.max { ($0.version ?? 0) < ($1.version ?? 0) }?.table
    }

    /// Returns whether a table never had more keys than one leaf takes, so that every leaf of it is the root.
    func hasRootLeavesOnly(_ key: UInt32, _ reader: NodeReader) -> Bool {
        guard let table = newest(key), let node = try? reader.map.node(at: table.ref), node.count > 9,
            let counter = node.number(inSlot: 9)
        else { return false }
        return counter <= 1 << UInt64(reader.clusterShift)
    }

    /// Returns whether the tree of a table is a single leaf in every version that can be read.
    func hasLeavesAsRoots(_ key: UInt32, _ map: SpaceMap) -> Bool {
        (entries[key] ?? []).allSatisfy { entry in (try? map.node(at: entry.table.clusterRef))?.isInner != true }
    }

    /// Collects the names in lists of table names in unused space.
    func collectNames(_ map: SpaceMap, _ reader: NodeReader) {
        map.forEachHeader { header in
            // Texts of 16 bytes and more.
            guard header.flags & 0xf8 == 8, header.flags & 7 >= 5, let node = try? reader.node(header.ref),
                let texts = try? reader.shortTexts(node, isNullable: false), !texts.isEmpty
            else { return }
            let names = texts.compactMap { $0 }.map { $0.isASCII ? $0.string : "?" }
            guard names.count == texts.count, names.allSatisfy(TableCatalog.isTableName) else { return }
            for (position, name) in names.enumerated() where !name.isEmpty && self.names[position]?.contains(name) != true {
                self.names[position, default: []].append(name)
            }
        }
    }

    /// Returns whether a text can be the name of a table.
    private static func isTableName(_ name: String) -> Bool {
        name.isEmpty || name.hasPrefix(Table.classPrefix) || ["metadata", "pk", "flx_metadata"].contains(name)
    }
}
