// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Checks that the tables of one version agree with each other. It runs whenever the columns of any of them are new.
///
/// - Every link column has a target table in use, and there a backlink column that names it back.
///   Backlink columns without an origin stay in the file when a column of Mixed is removed, so
///   these are left to `verify`.
/// - Embedded classes may hold each other in a circle: SDKs reject such a schema, but the engine
///   below them writes such files. Objects that hold themselves are found by the code that walks
///   over objects.
///
/// Source: docs/format.md, "Tables".
struct SchemaCheck {
    /// All tables of the version.
    private let tables: [Table]
    /// The position of each table in `tables`.
    private let positions: [TableKey: Int]

    /// Makes a check of all tables of one version.
    init(_ tables: [Table]) {
        self.tables = tables
        positions = Dictionary(tables.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Runs the check; throws `.corrupt` for the first disagreement.
    func run() throws(StorageError) {
        try checkLinks()
    }

    // MARK: - Links

    /// Throws `.corrupt` unless every link column and its backlink column name each other.
    private func checkLinks() throws(StorageError) {
        /// Backlink columns of each target by leaf index.
        var backlinks: [Int: [Int: Column]] = [:]
        for table in tables {
            for column in table.columns where column.type == .link {
                guard let target = column.targetTable, let position = positions[target] else {
                    throw .corrupt(ref: .none, reason: "the links of '\(table.name).\(column.name)' point to no table")
                }
                let known = backlinks[position] ?? Self.byLeafIndex(tables[position].backlinks)
                backlinks[position] = known
                guard let opposite = column.oppositeColumn, let back = known[opposite.leafIndex],
                    back.targetTable == table.key, back.oppositeColumn?.leafIndex == column.leafIndex
                else {
                    throw .corrupt(
                        ref: table.ref,
                        reason: "the link column '\(table.name).\(column.name)' and its backlink column do not name each other")
                }
            }
        }
    }

    private static func byLeafIndex(_ columns: [Column]) -> [Int: Column] {
        Dictionary(columns.map { ($0.leafIndex, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
