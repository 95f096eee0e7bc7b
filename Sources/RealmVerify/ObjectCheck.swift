// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks tables, objects, values and links of a version.
///
/// First the keys of all tables are read, then all objects, and finally links and backlinks are
/// matched. An error in one leaf does not keep other tables from being checked.
///
/// Each leaf of a column is looked at by quick checks, which prove for most of them that there is
/// nothing to report. The others are checked value by value.
struct ObjectCheck {
    /// The version that is checked.
    private let snapshot: Snapshot
    /// Whether everything is checked value by value, and kept one by one, without quick proofs.
    private let isExact: Bool
    private(set) var live: [TableKey: VerifiedKeys] = [:]
    /// The keys of the tombstones of each table.
    private var dead: [TableKey: VerifiedKeys] = [:]

    /// Makes a check of all objects of a version.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - isExact: Whether quick proofs are left out, as tests of them need.
    init(_ snapshot: Snapshot, isExact: Bool) {
        self.snapshot = snapshot
        self.isExact = isExact
    }

    // MARK: - Keys

    /// Reads the keys of all objects and tombstones, which has to be done before `run`, and counts them.
    ///
    /// - Parameter report: Gets errors, and the numbers of tables, objects and tombstones.
    mutating func readKeys(_ report: inout VerifyReport) {
        report.statistics.tables = snapshot.tables.count
        for table in snapshot.tables { readKeys(table, &report) }
    }

    /// Reads the keys of all objects and tombstones of a table, and checks their signs.
    private mutating func readKeys(_ table: Table, _ report: inout VerifyReport) {
        let liveKeys = keys(of: table.objects, table.name, &report)
        let deadKeys = keys(of: table.tombstones, "\(table.name) tombstones", &report)
        if liveKeys.hasNegative { report.error("\(table.name): live object with a negative key") }
        if deadKeys.hasLive { report.error("\(table.name): tombstone with a live key") }
        report.statistics.objects += liveKeys.count
        report.statistics.tombstones += deadKeys.count
        live[table.key] = liveKeys
        dead[table.key] = deadKeys
    }

    /// Returns the keys in one tree; damage is added to the report.
    private func keys(of tree: ClusterTree, _ what: String, _ report: inout VerifyReport) -> VerifiedKeys {
        if !isExact, let keys = VerifiedKeys(tree, report.control) { return keys }
        var keys: Set<ObjectKey> = []
        report.attempt(what) { (report) throws(StorageError) in
            var cursor = tree.leaves()
            while let leaf = try cursor.next() {
                try report.checkControl()
                for row in 0..<leaf.count where !keys.insert(leaf.key(at: row)).inserted {
                    report.error("\(what): object key \(leaf.key(at: row).rawValue) occurs twice")
                }
            }
        }
        return VerifiedKeys(keys)
    }

    // MARK: - All objects

    /// Checks all objects and adds what is wrong to the report.
    ///
    /// - Parameters:
    ///   - hash: The hash of links.
    ///   - unique: The tables of which it is known that no primary key occurs twice.
    ///   - report: Gets errors, warnings, and the number of links.
    /// - Complexity: O(size of the file). Of sound files neither keys nor links are kept one by one.
    func run(_ hash: ProofHash, unique: Set<TableKey>, _ report: inout VerifyReport) {
        var links = LinkCheck(snapshot, live: live, dead: dead, hash: hash, isExact: isExact)
        for table in snapshot.tables {
            checkColumns(table, &report)
            checkObjects(table, table.objects, isUnique: unique.contains(table.key), &links, &report)
            checkObjects(table, table.tombstones, isUnique: false, &links, &report)
        }
        if var second = links.secondWalk {
            var known = VerifyReport()
            for table in snapshot.tables {
                checkObjects(table, table.objects, isUnique: true, &second, &known)
                checkObjects(table, table.tombstones, isUnique: true, &second, &known)
            }
            links.finish(second)
        }
        links.report(&report)
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

    /// Checks all leaves of one tree.
    ///
    /// - Parameters:
    ///   - tree: The tree of its objects or that of its tombstones.
    ///   - isUnique: Whether it is known that no primary key occurs twice in it.
    ///   - report: Gets what is wrong or unusual.
    private func checkObjects(
        _ table: Table, _ tree: ClusterTree, isUnique: Bool, _ links: inout LinkCheck, _ report: inout VerifyReport
    ) {
        var check = LeafWalk(snapshot: snapshot, table: table, isExact: isExact, isUnique: isUnique)
        do throws(StorageError) {
            var cursor = tree.leaves()
            while let leaf = try cursor.next() {
                try report.checkControl()
                try check.visit(leaf, &links, &report)
            }
        } catch {
            report.error("\(table.name): \(error)")
        }
    }
}
