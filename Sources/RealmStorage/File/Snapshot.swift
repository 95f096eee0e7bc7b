// SPDX-License-Identifier: Apache-2.0

/// One version of a file: immutable, readable from any thread without a lock.
///
/// A snapshot keeps its mapping, so everything read from it (`Node`, `Value`, `ByteView`, the views of trees) is valid
/// while the snapshot is alive, and no longer.
package final class Snapshot: Sendable {
    package let file: RealmFile
    package let space: NodeSpace
    package let top: TopNode
    /// Tables in use, in position order: user classes and those of the SDK.
    package let tables: [Table]
    /// The schema version, or nil when the file has none.
    package let schemaVersion: UInt64?
    private let joinedValues: JoinedValues
    private let positions: [TableKey: Int]
    private let names: [String: Int]

    /// Reads top node and schema of the newest version. `clusterShift` is 8 for every released SDK.
    package init(file: RealmFile, clusterShift: Int = 8) throws(StorageError) {
        self.file = file
        joinedValues = JoinedValues()
        let whole = file.space(limit: UInt64(file.plainByteCount), joinedValues: joinedValues)
        top = try TopNode.read(file.header.topRef, whole)
        space = file.space(limit: top.logicalSize, joinedValues: joinedValues)
        tables = try Snapshot.readTables(top, space, file.header.fileFormat, clusterShift)
        positions = Dictionary(tables.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        names = Dictionary(tables.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        schemaVersion = try Snapshot.readSchemaVersion(names["metadata"].map { [tables] in tables[$0] })
    }

    /// The commit counter; 1 when the file does not tell.
    package var version: UInt64 { max(top.version, 1) }
    package var fileFormat: Int { file.header.fileFormat }

    package func table(_ key: TableKey) -> Table? { positions[key].map { tables[$0] } }

    /// A table by its full name.
    package func table(named name: String) -> Table? { names[name].map { tables[$0] } }

    /// A user class by its name without prefix.
    package func classTable(named name: String) -> Table? { table(named: Table.classPrefix + name) }

    /// User classes in position order.
    package var classes: [Table] { tables.filter { $0.className != nil } }

    private static func readTables(
        _ top: TopNode, _ space: NodeSpace, _ fileFormat: Int, _ clusterShift: Int
    ) throws(StorageError) -> [Table] {
        guard !top.tables.isNone else { return [] }
        let list = try space.node(at: top.tables)
        let names = try TableReader.names(try space.node(at: top.names), space)
        guard list.hasRefs, !list.isInner, list.count == names.count else {
            throw list.corrupt("\(names.count) table names for \(list.count) tables")
        }
        var tables: [Table] = []
        var known: Set<String> = []
        for position in 0..<list.count {
            guard case .ref(let ref) = try list.slot(position) else { continue }
            let reader = try TableReader(ref: ref, name: names[position], space: space, fileFormat: fileFormat)
            let table = try reader.table(clusterShift: clusterShift)
            guard table.key.position == position else {
                throw .corrupt(ref: ref, reason: "table '\(table.name)' has key \(table.key.rawValue) at position \(position)")
            }
            guard known.insert(table.name).inserted else {
                throw .corrupt(ref: ref, reason: "two tables are named '\(table.name)'")
            }
            tables.append(table)
        }
        try checkLinks(of: tables)
        return tables
    }

    /// Every link column has a target table in use.
    private static func checkLinks(of tables: [Table]) throws(StorageError) {
        let keys = Set(tables.map(\.key))
        for table in tables {
            for column in table.columns where column.type == .link {
                guard let target = column.targetTable, keys.contains(target) else {
                    throw .corrupt(
                        ref: .none, reason: "the links of '\(table.name).\(column.name)' point to no table")
                }
            }
        }
    }

    /// The number in the first object of `metadata`; all bits set, an empty table or no table mean "none".
    private static func readSchemaVersion(_ metadata: Table?) throws(StorageError) -> UInt64? {
        guard let metadata, let column = metadata.column(named: "version"), column.type == .int,
            column.collection == nil, let row = try metadata.objects.row(at: 0),
            case .int(let version) = try row.value(column), version != -1
        else { return nil }
        return UInt64(bitPattern: version)
    }
}
