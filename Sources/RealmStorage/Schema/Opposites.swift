// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The per-column arrays of a table node: opposite tables, opposite columns and search indexes, by leaf index.
///
/// An array may be shorter than the number of columns; missing entries mean "none". Source: docs/format.md, "Tables".
struct Opposites {
    /// The other table of each link or backlink column, by leaf index.
    private let tables: PackedIntegers
    /// The other column of each link or backlink column, by leaf index.
    private let columns: PackedIntegers
    /// The roots of search indexes, by leaf index.
    private let indexes: Node

    /// Attaches the arrays of a table.
    ///
    /// - Parameters:
    ///   - top: The top node of the table.
    ///   - indexes: The node with the roots of search indexes.
    ///   - space: The space that refs point into.
    ///   - what: The table, for error messages.
    /// - Throws: `.corrupt` unless both lists of opposites are plain integers of the same length.
    init(_ top: Node, indexes: Node, _ space: NodeSpace, _ what: String) throws(StorageError) {
        self.indexes = indexes
        tables = try Opposites.integers(try top.requiredRef(7, "\(what): opposite tables"), space)
        columns = try Opposites.integers(try top.requiredRef(8, "\(what): opposite columns"), space)
        // All writers extend both together, though not always to the number of columns.
        guard tables.count == columns.count else {
            throw top.corrupt("\(what): \(tables.count) opposite tables with \(columns.count) opposite columns")
        }
    }

    /// Attaches an array of the table; throws `.corrupt` when it is not a plain node of integers.
    private static func integers(_ ref: Ref, _ space: NodeSpace) throws(StorageError) -> PackedIntegers {
        let node = try space.node(at: ref)
        guard !node.hasRefs else { throw node.corrupt("a plain integer node belongs here") }
        return try node.integers()
    }

    /// Returns the table at the other end of a link or backlink column; nil for other columns.
    func table(_ leafIndex: Int, _ type: ColumnType) throws(StorageError) -> TableKey? {
        guard type == .link || type == .backlink, leafIndex < tables.count else { return nil }
        let key = tables[leafIndex]
        guard key >= 0, key < Int64(TableKey.null.rawValue) else { return nil }
        return TableKey(UInt32(truncatingIfNeeded: key))
    }

    /// Returns the column at the other end of a link or backlink column; nil for other columns.
    func column(_ leafIndex: Int, _ type: ColumnType) -> ColumnKey? {
        guard type == .link || type == .backlink, leafIndex < columns.count else { return nil }
        let key = ColumnKey(columns[leafIndex])
        return key == .null ? nil : key
    }

    /// Returns the root of a column's search index, or `Ref.none`.
    func searchIndex(_ leafIndex: Int) throws(StorageError) -> Ref {
        leafIndex < indexes.count ? try indexes.optionalRef(leafIndex, "search index") : .none
    }
}
