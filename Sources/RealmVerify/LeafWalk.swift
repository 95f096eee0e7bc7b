// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks the leaves of one tree of objects, one after another: all columns of each, and that no primary key occurs twice.
struct LeafWalk {
    /// The version that is checked.
    let snapshot: Snapshot
    /// The table that is checked.
    let table: Table
    /// Whether all values are checked one by one.
    private let isExact: Bool
    /// Whether it is known that no primary key occurs twice.
    private let isUnique: Bool
    /// The leaf indexes of all columns.
    private let used: Set<Int>
    /// The primary keys of the objects visited so far, unless they are known to be unique.
    private var primaryKeys: Set<[UInt8]?> = []

    /// Makes a check in front of the first leaf.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - table: The table of the tree.
    ///   - isExact: Whether all values are checked one by one, without quick proofs.
    ///   - isUnique: Whether it is known that no primary key occurs twice.
    init(snapshot: Snapshot, table: Table, isExact: Bool, isUnique: Bool) {
        self.snapshot = snapshot
        self.table = table
        self.isExact = isExact
        self.isUnique = isUnique
        used = Set((table.columns + table.backlinks).map(\.leafIndex))
    }

    /// Checks the next leaf.
    ///
    /// - Parameters:
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the leaf from being read.
    mutating func visit(
        _ leaf: ClusterLeaf, _ links: inout LinkCheck, _ report: inout VerifyReport
    ) throws(StorageError) {
        checkSlots(leaf, &report)
        for column in table.columns where isExact || !prove(column, in: leaf, &links, &report) {
            try check(column, in: leaf, &links, &report)
        }
        for column in table.backlinks { try links.addBacklinks(table, column, leaf) }
        guard !isUnique, let primaryKey = table.primaryKey else { return }
        let values = try leaf.attach(primaryKey)
        for row in 0..<leaf.count where !primaryKeys.insert(IndexData(try values.value(row)).bytes).inserted {
            report.error("\(table.name): object \(leaf.key(at: row).rawValue) has the primary key of another")
        }
    }

    /// Reports slots of a leaf that have data although no column has them.
    private func checkSlots(_ leaf: ClusterLeaf, _ report: inout VerifyReport) {
        for slot in 1..<max(leaf.node.count, 1) where leaf.node.integer(slot) != 0 && !used.contains(slot - 1) {
            report.error("\(table.name): leaf \(leaf.node.ref) has data in unused column slot \(slot)")
        }
    }

    // MARK: - Values one by one

    /// Checks one column of a leaf and adds the links in it.
    ///
    /// - Parameters:
    ///   - column: The column, of values or of collections.
    ///   - leaf: The cluster leaf, of objects or of tombstones.
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the column from being read.
    private func check(
        _ column: Column, in leaf: ClusterLeaf, _ links: inout LinkCheck, _ report: inout VerifyReport
    ) throws(StorageError) {
        var check = CellCheck(snapshot: snapshot, table: table, column: column)
        guard let collection = column.collection else {
            let values = try leaf.attach(column)
            try LeafCheck.run(values)
            for row in 0..<leaf.count {
                check.begin(leaf.key(at: row))
                try check.value(values, row, &report)
            }
            return links.add(check.links, &report)
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
        links.add(check.links, &report)
    }
}
