// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A table of formats 2 to 9: columns of equally many values, which are found by row number.
package struct LegacyTable: Sendable {
    /// The position of the table, by which links name it.
    package let position: Int
    /// The bytes of its name.
    package let name: [UInt8]
    /// Its columns.
    package let spec: LegacySpec
    package let rowCount: Int
    /// The roots of columns and indexes, in their order.
    private let roots: [Ref]

    /// The beginning of the names of tables that are classes.
    static let classPrefix = Array("class_".utf8)

    /// The bytes of the name of the class; nil for a table of another kind.
    package var className: ArraySlice<UInt8>? {
        name.starts(with: LegacyTable.classPrefix) ? name.dropFirst(LegacyTable.classPrefix.count) : nil
    }

    /// Reads a table, without its values.
    ///
    /// - Throws: `.corrupt` for a table that contradicts itself, `.refused` for one of a later format, which an interrupted upgrade
    ///   has left.
    init(
        at ref: Ref, position: Int, name: [UInt8], _ reading: LegacyReading, fileFormat: Int, countsRows: Bool = true
    ) throws(StorageError) {
        let node = try reading.refs(at: ref, "table")
        for slot in 2..<max(2, node.count) where try node.rawValue(slot) != 0 {
            throw LegacyFile.interrupted(fileFormat)
        }
        self.position = position
        self.name = name
        spec = try LegacySpec(at: try node.requiredRef(0, "spec"), reading)
        let list = try node.optionalRef(1, "columns")
        roots = list.isNone ? [] : try LegacyTable.roots(at: list, spec, reading)
        let walk = countsRows ? LegacyValues.count : LegacyValues.statedCount
        rowCount = try roots.isEmpty || spec.columns.isEmpty ? 0 : LegacyTable.count(spec.columns[0], roots[0], reading, by: walk)
    }

    /// Returns the roots in a column list.
    ///
    /// - Throws: `.corrupt` when it has not one for each column and index, or a column without a root.
    static func roots(at ref: Ref, _ spec: LegacySpec, _ reading: LegacyReading) throws(StorageError) -> [Ref] {
        let node = try reading.refs(at: ref, "columns")
        guard node.count == spec.slotCount || node.count == 0 else {
            throw node.corrupt("\(node.count) slots for \(spec.slotCount) columns and indexes")
        }
        var roots: [Ref] = []
        for slot in 0..<node.count { roots.append(try node.optionalRef(slot, "column")) }
        if !roots.isEmpty, let missing = spec.columns.first(where: { roots[$0.slot].isNone }) {
            throw node.corrupt("column \(missing.index) has no root")
        }
        return roots
    }

    /// Counts the values of the tree at a root.
    private typealias Count = (Ref, LegacyType, Bool, LegacyReading) throws(StorageError) -> Int

    /// Returns how many values a column has, as its tree is counted by `count`.
    private static func count(
        _ column: LegacyColumn, _ root: Ref, _ reading: LegacyReading, by count: Count
    ) throws(StorageError) -> Int {
        switch column.type {
        case .timestamp: return try count(try LegacyTimestamps.trees(at: root, reading).seconds, .int, true, reading)
        case .mixed:
            let types = try reading.refs(at: root, "mixed values").requiredRef(0, "types")
            return try count(types, .int, false, reading)
        case .table, .linkList, .backlink: return try count(root, .int, false, reading)
        default: return try count(root, column.type, column.isNullable, reading)
        }
    }

    /// Returns the root of a column; nil when the table has no rows and no trees.
    func root(of column: LegacyColumn) -> Ref? { roots.isEmpty ? nil : roots[column.slot] }
}
