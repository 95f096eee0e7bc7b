// SPDX-License-Identifier: Apache-2.0

/// Checks tables, objects, values and links of a version.
///
/// First the keys of all tables are read, then all objects, and finally links and backlinks are
/// matched. An error in one leaf does not keep other tables from being checked.
struct ObjectCheck {
    /// One link, as its origin holds it or as a backlink of its target describes it.
    struct Link: Hashable {
        /// The table of the object that holds the link.
        let origin: TableKey
        /// The leaf index of the property that holds the link.
        let column: Int
        /// The object that holds the link.
        let originKey: ObjectKey
        /// The table of the object that the link points to.
        let target: TableKey
        /// The object that the link points to.
        let targetKey: ObjectKey
    }

    /// The version that is checked.
    private let snapshot: Snapshot
    /// The keys of the objects of each table.
    private var live: [TableKey: Set<ObjectKey>] = [:]
    /// The keys of the tombstones of each table.
    private var dead: [TableKey: Set<ObjectKey>] = [:]
    /// The number of each link minus the number of its backlinks, which is zero in sound files.
    private var balance: [Link: Int] = [:]
    /// How many incoming links each embedded object has.
    private var owners: [TableKey: [ObjectKey: Int]] = [:]
    /// The tables of embedded objects.
    private let embedded: Set<TableKey>
    /// The search for embedded objects that hold each other in a cycle.
    private var cycles = EmbeddedCycleCheck()

    /// Makes a check of all objects of a version.
    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        embedded = Set(snapshot.tables.filter { $0.kind == .embedded }.map(\.key))
    }

    /// Checks all objects and adds what is wrong to the report.
    ///
    /// - Complexity: O(size of the file), with memory for every key and link.
    /// - Parameter report: Gets errors, warnings, and the numbers of tables, objects, tombstones
    ///   and links.
    mutating func run(_ report: inout VerifyReport) {
        report.statistics.tables = snapshot.tables.count
        for table in snapshot.tables { readKeys(table, &report) }
        for table in snapshot.tables {
            checkColumns(table, &report)
            checkObjects(table, table.objects, &report)
            checkObjects(table, table.tombstones, &report)
        }
        reportLinks(&report)
        reportOwners(&report)
    }

    // MARK: - Keys

    /// Reads the keys of all objects and tombstones of a table, and checks their signs.
    private mutating func readKeys(_ table: Table, _ report: inout VerifyReport) {
        live[table.key] = keys(of: table.objects, table.name, &report)
        dead[table.key] = keys(of: table.tombstones, "\(table.name) tombstones", &report)
        let liveKeys = live[table.key] ?? []
        let deadKeys = dead[table.key] ?? []
        if liveKeys.contains(where: { $0.rawValue < 0 }) { report.error("\(table.name): live object with a negative key") }
        if deadKeys.contains(where: { $0.rawValue > -2 }) { report.error("\(table.name): tombstone with a live key") }
        report.statistics.objects += liveKeys.count
        report.statistics.tombstones += deadKeys.count
    }

    /// Returns the keys in one tree; damage is added to the report.
    private func keys(of tree: ClusterTree, _ what: String, _ report: inout VerifyReport) -> Set<ObjectKey> {
        var keys: Set<ObjectKey> = []
        report.attempt(what) { (report) throws(StorageError) in
            var cursor = tree.leaves()
            while let leaf = try cursor.next() {
                for row in 0..<leaf.count where !keys.insert(leaf.key(at: row)).inserted {
                    report.error("\(what): object key \(leaf.key(at: row).rawValue) occurs twice")
                }
            }
        }
        return keys
    }

    // MARK: - Schema

    /// Reports link columns and backlink columns that do not name each other.
    private func checkColumns(_ table: Table, _ report: inout VerifyReport) {
        for column in table.columns where column.type == .link {
            let target = column.targetTable.flatMap { snapshot.table($0) }
            let back = column.oppositeColumn.flatMap { target?.column($0) }
            guard let back, back.type == .backlink, back.targetTable == table.key,
                back.oppositeColumn?.leafIndex == column.leafIndex
            else {
                report.error("\(table.name).\(column.name): link column and backlink column do not match")
                continue
            }
        }
        for column in table.backlinks {
            let origin = column.targetTable.flatMap { snapshot.table($0) }
            let source = column.oppositeColumn.flatMap { origin?.column($0) }
            if source == nil || source?.type == .backlink || (source?.type != .link && source?.type != .mixed) {
                // Removing a mixed column leaves its backlink columns in the file.
                report.warn("\(table.name): backlink column \(column.leafIndex) has no origin column")
            } else if let source, source.type == .link, source.key == column.oppositeColumn,
                source.targetTable != table.key || source.oppositeColumn?.leafIndex != column.leafIndex
            {
                report.error("\(table.name): backlink column \(column.leafIndex) and its link column do not name each other")
            }
        }
    }

    // MARK: - Objects

    /// Checks all leaves of one tree, and that no primary key occurs twice.
    private mutating func checkObjects(_ table: Table, _ tree: ClusterTree, _ report: inout VerifyReport) {
        var primaryKeys: Set<[UInt8]?> = []
        do throws(StorageError) {
            var cursor = tree.leaves()
            while let leaf = try cursor.next() {
                checkSlots(table, leaf, &report)
                for column in table.columns { try checkColumn(column, of: table, in: leaf, &report) }
                for column in table.backlinks { try countBacklinks(table, column, leaf) }
                guard let primaryKey = table.primaryKey else { continue }
                let values = try leaf.attach(primaryKey)
                for row in 0..<leaf.count where !primaryKeys.insert(IndexData(try values.value(row)).bytes).inserted {
                    report.error("\(table.name): object \(leaf.key(at: row).rawValue) has the primary key of another")
                }
            }
        } catch {
            report.error("\(table.name): \(error)")
        }
    }

    /// Reports slots of a leaf that have data although no column has them.
    private func checkSlots(_ table: Table, _ leaf: ClusterLeaf, _ report: inout VerifyReport) {
        let used = Set((table.columns + table.backlinks).map(\.leafIndex))
        for slot in 1..<max(leaf.node.count, 1) where !used.contains(slot - 1) && leaf.node.integer(slot) != 0 {
            report.error("\(table.name): leaf \(leaf.node.ref) has data in unused column slot \(slot)")
        }
    }

    /// Checks one column of a leaf and adds the links in it.
    ///
    /// - Parameters:
    ///   - column: The column, of values or of collections.
    ///   - table: Its table.
    ///   - leaf: The cluster leaf, of objects or of tombstones.
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the column from being read.
    private mutating func checkColumn(
        _ column: Column, of table: Table, in leaf: ClusterLeaf, _ report: inout VerifyReport
    ) throws(StorageError) {
        var check = CellCheck(snapshot: snapshot, table: table, column: column)
        guard let collection = column.collection else {
            let values = try leaf.attach(column)
            try LeafCheck.run(values)
            for row in 0..<leaf.count {
                check.begin(leaf.key(at: row))
                try check.value(values, row, &report)
            }
            add(check.links, &report)
            return
        }
        // Checked in a leaf without objects, too.
        _ = try leaf.attachRefs(column)
        for row in 0..<leaf.count {
            let root = try leaf.collectionRoot(column, row: row)
            guard !root.isNone else { continue }
            check.begin(leaf.key(at: row))
            switch collection {
            case .dictionary: try check.dictionary(root, keyType: column.dictionaryKeyType, &report)
            case .list: try check.list(root, column.elementShape, &report)
            case .set: try check.set(root, column.elementShape, &report)
            }
        }
        add(check.links, &report)
    }

    // MARK: - Links

    /// Counts links, and reports those whose target does not exist.
    private mutating func add(_ links: [Link], _ report: inout VerifyReport) {
        report.statistics.links += links.count
        for link in links {
            balance[link, default: 0] += 1
            guard let known = link.targetKey.rawValue >= 0 ? live[link.target] : dead[link.target] else {
                report.error("\(describe(link)): the target table does not exist")
                continue
            }
            if !known.contains(link.targetKey) { report.error("\(describe(link)): the target object does not exist") }
            if embedded.contains(link.target), embedded.contains(link.origin) {
                cycles.add(
                    .init(table: link.origin, object: link.originKey), holds: .init(table: link.target, object: link.targetKey))
            }
        }
    }

    /// Subtracts the backlinks of one column of a leaf, and counts the owners of embedded objects.
    ///
    /// - Parameters:
    ///   - table: The table of the targets.
    ///   - column: The backlink column.
    ///   - leaf: The leaf whose objects are the targets.
    /// - Throws: `.corrupt` for a damaged list of backlinks.
    private mutating func countBacklinks(_ table: Table, _ column: Column, _ leaf: ClusterLeaf) throws(StorageError) {
        _ = try leaf.attachRefs(column)
        for row in 0..<leaf.count {
            let target = leaf.key(at: row)
            for origin in try leaf.backlinks(column, row: row).keys() {
                let link = Link(
                    origin: column.targetTable ?? .null, column: column.oppositeColumn?.leafIndex ?? -1, originKey: origin,
                    target: table.key, targetKey: target)
                balance[link, default: 0] -= 1
                if table.kind == .embedded { owners[table.key, default: [:]][target, default: 0] += 1 }
            }
        }
    }

    /// Reports links and backlinks that do not match.
    private func reportLinks(_ report: inout VerifyReport) {
        for (link, count) in balance where count != 0 {
            if count > 0 {
                report.error("link without backlink (\(count)): \(describe(link))")
                continue
            }
            let text = "backlink without link (\(-count)): \(describe(link))"
            let source = snapshot.table(link.origin)?.columns.first { $0.leafIndex == link.column }
            // The reference engine leaves these when a collection nested in Mixed is overwritten.
            if source == nil || source?.type == .mixed { report.warn(text) } else { report.error(text) }
        }
    }

    /// Reports embedded objects that do not have exactly one owner, or hold themselves.
    private func reportOwners(_ report: inout VerifyReport) {
        for table in snapshot.tables where table.kind == .embedded {
            for key in live[table.key] ?? [] {
                let count = owners[table.key]?[key] ?? 0
                if count != 1 { report.warn("\(table.name): embedded object \(key.rawValue) has \(count) owners") }
            }
        }
        let count = cycles.objectsWithoutEnd()
        if count > 0 { report.error("\(count) embedded objects hold themselves, or lie in such ones") }
    }

    /// Returns a link in words, with names and keys but without values.
    private func describe(_ link: Link) -> String {
        let origin = snapshot.table(link.origin)
        let column = origin?.columns.first { $0.leafIndex == link.column }?.name ?? "column \(link.column)"
        let target = snapshot.table(link.target)?.name ?? "table \(link.target.rawValue)"
        return "\(origin?.name ?? "table \(link.origin.rawValue)").\(column) object \(link.originKey.rawValue)"
            + " -> \(target) object \(link.targetKey.rawValue)"
    }
}
