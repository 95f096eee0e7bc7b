// SPDX-License-Identifier: Apache-2.0

/// Checks tables, objects, values and links of a version.
///
/// First the keys of all tables are read, then all objects, and at last links and backlinks are matched. An error in one leaf
/// does not keep the rest from being checked.
struct ObjectCheck {
    /// One link, as its origin holds it and as the backlinks of its target have it.
    struct Link: Hashable {
        /// The table of the object that links.
        let origin: TableKey
        /// The leaf index of its property.
        let column: Int
        /// The object that links.
        let originKey: ObjectKey
        /// The table that is linked to.
        let target: TableKey
        /// The object that is linked to.
        let targetKey: ObjectKey
    }

    /// The version that is checked.
    private let snapshot: Snapshot
    /// The objects of each table.
    private var live: [TableKey: Set<ObjectKey>] = [:]
    /// The tombstones of each table.
    private var dead: [TableKey: Set<ObjectKey>] = [:]
    /// Links counted up, backlinks counted down: sound files end with zeros only.
    private var balance: [Link: Int] = [:]
    /// Incoming links of embedded objects.
    private var owners: [TableKey: [ObjectKey: Int]] = [:]
    /// Tables of embedded classes.
    private let embedded: Set<TableKey>
    /// Finds objects that hold each other in a circle.
    private var cycles = EmbeddedCycleCheck()

    /// A check of all objects of a version.
    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        embedded = Set(snapshot.tables.filter { $0.kind == .embedded }.map(\.key))
    }

    /// Checks all objects and adds what is wrong to the report.
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

    /// Reads the keys of all objects and tombstones of a table.
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

    /// The keys in one tree; what cannot be read is added to the report.
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

    /// Adds columns that contradict each other to the report.
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

    /// Checks all leaves of one tree.
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

    /// Adds slots that no column has to the report.
    private func checkSlots(_ table: Table, _ leaf: ClusterLeaf, _ report: inout VerifyReport) {
        let used = Set((table.columns + table.backlinks).map(\.leafIndex))
        for slot in 1..<max(leaf.node.count, 1) where !used.contains(slot - 1) && leaf.node.integer(slot) != 0 {
            report.error("\(table.name): leaf \(leaf.node.ref) has data in unused column slot \(slot)")
        }
    }

    /// Checks one column of a leaf.
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

    /// Notes links and adds those that lead nowhere to the report.
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

    /// Counts what a backlink column says.
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

    /// Adds links and backlinks that do not match to the report.
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

    /// Adds embedded objects without exactly one owner to the report.
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

    /// A link in words.
    private func describe(_ link: Link) -> String {
        let origin = snapshot.table(link.origin)
        let column = origin?.columns.first { $0.leafIndex == link.column }?.name ?? "column \(link.column)"
        let target = snapshot.table(link.target)?.name ?? "table \(link.target.rawValue)"
        return "\(origin?.name ?? "table \(link.origin.rawValue)").\(column) object \(link.originKey.rawValue)"
            + " -> \(target) object \(link.targetKey.rawValue)"
    }
}
