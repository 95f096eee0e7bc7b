// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// One version of a file: immutable, readable from any thread without a lock.
///
/// A snapshot keeps its mapping, so everything that is read from it (`Node`, `Value`, `ByteView`,
/// the views of trees) is valid while the snapshot is alive, and no longer.
package final class Snapshot: Sendable {
    /// The file in the state of this version.
    package let file: RealmFile
    /// The space that the nodes of this version are read in.
    package let space: NodeSpace
    /// The top node of this version.
    package let top: TopNode
    /// The tables in use, in the order of their positions: user classes and those of the SDK.
    package let tables: [Table]
    /// The schema version, or nil when the file has none.
    package let schemaVersion: UInt64?
    /// The joined values of this version that are split over several nodes.
    private let joinedValues: JoinedValues
    /// The positions of tables in `tables`, by key.
    private let positions: [TableKey: Int]
    /// The positions of tables in `tables`, by full name.
    private let names: [ByteText: Int]
    /// Keeps the nodes of this version from being overwritten; nil for views of transactions and files that are only read.
    private let pin: VersionPins.Pin?
    /// The objects that the view of a transaction borrows from.
    private let lenders: (base: Snapshot, arena: NodeArena)?
    /// log2 of the capacity of cluster leaves.
    let clusterShift: Int
    /// The classes that are shown, when they are a part of those of the version; nil when all are.
    package let part: SnapshotPart?
    /// The visible part of the version for restricted users; nil for all of it.
    package let scope: SnapshotScope?
    /// Hides links of which the targets are not shown.
    private let linkFilter: LinkFilter?

    /// Reads the top node and the schema of the newest version of a file. Objects are not read.
    ///
    /// - Parameters:
    ///   - clusterShift: log2 of the capacity of cluster leaves, 8 for every released SDK.
    /// - Throws: `.corrupt` when top node, table list or specs contradict themselves or each other.
    package convenience init(file: RealmFile, clusterShift: Int = 8) throws(StorageError) {
        try self.init(file: file, clusterShift: clusterShift, previous: nil, pin: nil)
    }

    /// Reads the version that the header of `file` names.
    ///
    /// - Parameters:
    ///   - clusterShift: log2 of the capacity of cluster leaves.
    ///   - previous: An earlier version of the same file; what has not changed since is taken from
    ///     it.
    ///   - pin: Keeps the nodes of the version.
    ///   - isFormer: Whether a later version may have overwritten its free lists.
    init(
        file: RealmFile, clusterShift: Int, previous: Snapshot?, pin: VersionPins.Pin?, isFormer: Bool = false
    ) throws(StorageError) {
        self.file = file
        self.pin = pin
        self.clusterShift = clusterShift
        part = nil
        scope = nil
        linkFilter = nil
        lenders = nil
        joinedValues = JoinedValues()
        let whole = file.space(limit: UInt64(file.plainByteCount), joinedValues: joinedValues)
        let top = try TopNode.read(file.header.topRef, whole)
        self.top = isFormer ? top.withoutFreeLists : top
        space = file.space(limit: top.logicalSize, joinedValues: joinedValues)
        tables = try Snapshot.readTables(
            top, space, fileFormat: file.header.fileFormat, clusterShift: clusterShift, previous: previous)
        (positions, names, schemaVersion) = try Snapshot.directory(tables, previous)
    }

    /// Makes a view of the state of a write transaction that began with `base`. It is valid until
    /// the transaction changes something or ends.
    init(base: Snapshot, names: Ref, tables: Ref, _ writes: WriteSpace) throws(StorageError) {
        file = base.file
        pin = nil
        clusterShift = base.clusterShift
        part = nil
        scope = nil
        linkFilter = nil
        lenders = (base, writes.arena)
        joinedValues = base.joinedValues
        top = base.top.with(names: names, tables: tables)
        space = writes.space
        // Columns that `base` read from nodes that have not changed are taken from it.
        self.tables = try Snapshot.readTables(
            top, space, fileFormat: FileHeader.writtenFormat, clusterShift: clusterShift, previous: base)
        (positions, self.names, schemaVersion) = try Snapshot.directory(self.tables, base)
    }

    /// Makes a view of some classes of a version. The others cannot be reached through it: neither their tables,
    /// nor the links that lead from them to those that are shown.
    ///
    /// - Parameter part: The version, and the classes that are shown.
    /// - Complexity: Linear in the number of columns of the classes.
    package init(_ part: SnapshotPart) {
        let whole = part.whole
        self.part = part
        scope = nil
        linkFilter = nil
        file = whole.file
        pin = nil
        lenders = nil
        clusterShift = whole.clusterShift
        joinedValues = whole.joinedValues
        top = whole.top
        space = whole.space
        schemaVersion = whole.schemaVersion
        tables = whole.tables.compactMap { table in
            if table.className == nil { return table }
            return part.shown.contains(table.key) ? Table(table, backlinks: table.backlinks.filter(part.listsLinks)) : nil
        }
        positions = Snapshot.positions(of: tables)
        names = Snapshot.names(of: tables, except: part.shared)
    }

    /// Makes a view of a version for restricted users. Nothing else can be reached through it: what is left out is in no table,
    /// property, link, index or look-up.
    ///
    /// - Parameter scope: The version, and its visible part.
    /// - Complexity: Linear in the number of columns of the classes.
    package init(_ scope: SnapshotScope) {
        let base = scope.base
        self.scope = scope
        part = nil
        file = base.file
        pin = nil
        lenders = nil
        clusterShift = base.clusterShift
        joinedValues = base.joinedValues
        top = base.top
        schemaVersion = base.schemaVersion
        var rules = scope.rules()
        let filter = scope.linkFilter(rules)
        linkFilter = filter
        space = base.space.hidingLinks(by: filter)
        rules.merge(scope.ownerRules(rules)) { rule, _ in rule }
        tables = base.tables.compactMap { [space] table in scope.shown(table, in: space, rules[table.key]) }
        positions = Snapshot.positions(of: tables)
        names = Snapshot.names(of: tables)
    }

    /// Returns whether objects of a table may be hidden, so that links to them are left out.
    package func mayHideObjects(of table: TableKey) -> Bool { space.mayHideLinks(to: table) }

    private static func positions(of tables: [Table]) -> [TableKey: Int] {
        Dictionary(tables.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the positions of tables by their full names.
    ///
    /// - Parameters:
    ///   - inner: The classes whose objects are only read inside of others, so that they have no name to list them by.
    private static func names(of tables: [Table], except inner: Set<TableKey> = []) -> [ByteText: Int] {
        let named = tables.enumerated().lazy.filter { !inner.contains($1.key) }
        return Dictionary(texts: named.map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The look-ups of a version by key and name, and its schema version.
    private typealias Directory = (positions: [TableKey: Int], names: [ByteText: Int], schemaVersion: UInt64?)

    /// Makes the look-ups, or takes them from `previous` where the schema is the same.
    private static func directory(_ tables: [Table], _ previous: Snapshot?) throws(StorageError) -> Directory {
        let positions: [TableKey: Int]
        let names: [ByteText: Int]
        if let previous, Snapshot.haveSameSchema(tables, previous.tables) {
            positions = previous.positions
            names = previous.names
        } else {
            try SchemaCheck(tables).run()
            positions = Snapshot.positions(of: tables)
            names = Snapshot.names(of: tables)
        }
        let metadata = names["metadata"].map { tables[$0] }
        if let previous, let metadata, metadata.ref == previous.table(named: "metadata")?.ref {
            return (positions, names, previous.schemaVersion)
        }
        return (positions, names, try Snapshot.readSchemaVersion(metadata))
    }

    /// Reads the number of the version that the header of `file` names, and nothing else.
    static func version(of file: RealmFile) throws(StorageError) -> UInt64 {
        let joinedValues = JoinedValues()
        return try withExtendedLifetime(joinedValues) { () throws(StorageError) -> UInt64 in
            let whole = file.space(limit: UInt64(file.plainByteCount), joinedValues: joinedValues)
            return max(try TopNode.read(file.header.topRef, whole).version, 1)
        }
    }

    /// Returns whether all columns are the same in two versions, except for the roots of their search indexes.
    private static func haveSameSchema(_ tables: [Table], _ others: [Table]) -> Bool {
        tables.count == others.count && zip(tables, others).allSatisfy { $0.source.hasSameSchema(as: $1.source) }
    }

    /// Returns whether the columns of all tables are the same, except for the roots of their search
    /// indexes, so that what was derived from one schema is valid for the other.
    package func hasSameSchema(as other: Snapshot) -> Bool { Snapshot.haveSameSchema(tables, other.tables) }

    /// The number of the version, which is a counter of commits; 1 when the file does not state it.
    package var version: UInt64 { max(top.version, 1) }
    /// The format of the file when this version was made.
    package var fileFormat: Int { file.header.fileFormat }

    /// Returns a table by its key; nil when there is none with exactly that key.
    package func table(_ key: TableKey) -> Table? { positions[key].map { tables[$0] } }

    /// Returns a table by its full name, or nil.
    ///
    /// - Complexity: O(1).
    package func table(named name: String) -> Table? { names[name].map { tables[$0] } }

    /// Returns the table of a user class by the name of the class, or nil. Tables of the SDK are not classes.
    ///
    /// - Complexity: O(1).
    package func classTable(named name: String) -> Table? { table(named: Table.classPrefix + name) }

    /// The tables of user classes, in the order of their positions.
    package var classes: [Table] { tables.filter { $0.className != nil } }

    /// Reads all tables, taking columns from `previous` where their nodes are the same.
    private static func readTables(
        _ top: TopNode, _ space: NodeSpace, fileFormat: Int, clusterShift: Int, previous: Snapshot?
    ) throws(StorageError) -> [Table] {
        guard !top.tables.isNone else { return [] }
        let list = try space.node(at: top.tables)
        let names = try TableReader.names(try space.node(at: top.names), space)
        guard list.hasRefs, !list.isInner, list.count == names.count else {
            throw list.corrupt("\(names.count) table names for \(list.count) tables")
        }
        var tables: [Table] = []
        var known: Set<ByteText> = []
        var claimed: Set<Ref> = [top.tables, top.names]
        var columnBudget = Snapshot.maximumColumnCount(space)
        for position in 0..<list.count {
            guard case .ref(let ref) = try list.slot(position) else { continue }
            let reader = try TableReader(ref: ref, name: names[position], space: space, fileFormat: fileFormat)
            let table = try reader.table(
                clusterShift: clusterShift, previous: previous?.table(at: position, named: names[position]))
            guard table.key.position == position else {
                throw .corrupt(ref: ref, reason: "table '\(table.name)' has key \(table.key.rawValue) at position \(position)")
            }
            guard known.insert(table.name).inserted else {
                throw .corrupt(ref: ref, reason: "two tables are named '\(table.name)'")
            }
            if previous == nil {
                try reader.claimNodes(&claimed)
                columnBudget -= table.columns.count + table.backlinks.count
                guard columnBudget >= 0 else { throw .corrupt(ref: ref, reason: "more columns than the file has room for") }
            }
            tables.append(table)
        }
        return tables
    }

    /// Returns the greatest number of columns that a file has room for: a column takes four bytes
    /// for its key and more for the rest.
    private static func maximumColumnCount(_ space: NodeSpace) -> Int { Int(clamping: space.limit >> 2) }

    /// Returns the table at a position if it has the given name; nil otherwise.
    private func table(at position: Int, named name: String) -> Table? {
        guard let table = table(named: name), table.key.position == position else { return nil }
        return table
    }

    /// Reads the number in the first object of `metadata`; all bits set, an empty table or no table mean "none".
    private static func readSchemaVersion(_ metadata: Table?) throws(StorageError) -> UInt64? {
        guard let metadata, let column = metadata.column(named: "version"), column.type == .int,
            column.collection == nil, let row = try metadata.objects.row(at: 0),
            case .int(let version) = try row.value(column), version != -1
        else { return nil }
        return UInt64(bitPattern: version)
    }
}

extension Snapshot {
    /// Returns whether the top node of an earlier version lies in this version's file as it did in that version. It
    /// does after the next commit, which writes to free blocks only.
    package func holdsTop(of earlier: Snapshot) -> Bool {
        let ref = earlier.file.header.topRef
        guard !ref.isNone, let old = try? earlier.space.node(at: ref), let new = try? space.node(at: ref) else { return false }
        return old.flags == new.flags && old.count == new.count && old.bytes == new.bytes
    }
}
