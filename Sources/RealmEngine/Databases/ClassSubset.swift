// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The classes of a realm that a copy has: those that are named, and the embedded classes that can be reached from them.
package struct ClassSubset: Sendable {
    /// The tables of the classes that the copy has.
    let kept: Set<TableKey>

    /// The error of a name that is no class of the realm, with its position among the names.
    package struct UnknownClass: Error {
        /// The position of the name, from 0.
        package let position: Int
    }

    /// Finds the classes.
    ///
    /// - Parameters:
    ///   - names: The names of classes, in any order; repeated ones count once.
    ///   - snapshot: The version that has the classes.
    /// - Throws: `UnknownClass` for the first name that is no class.
    package init(_ names: [String], of snapshot: Snapshot) throws(UnknownClass) {
        var tables: [Table] = []
        for (position, name) in names.enumerated() {
            guard let table = snapshot.classTable(named: name) else { throw UnknownClass(position: position) }
            tables.append(table)
        }
        self.init(tables, of: snapshot)
    }

    /// Finds the classes that a version has, of all that are named.
    init(known names: [String], of snapshot: Snapshot) {
        self.init(names.compactMap { snapshot.classTable(named: $0) }, of: snapshot)
    }

    /// Chooses the classes that a part of a version shows.
    init(_ part: SnapshotPart) { kept = part.shown }

    /// Adds to some classes of a version the embedded classes that can be reached from them.
    private init(_ named: [Table], of snapshot: Snapshot) {
        var kept: Set<TableKey> = []
        var waiting = named
        let tables = Dictionary(snapshot.classes.map { ($0.key, $0) }) { first, _ in first }
        while let table = waiting.popLast() {
            guard kept.insert(table.key).inserted else { continue }
            for column in table.columns {
                if let target = column.targetTable.flatMap({ tables[$0] }), target.kind == .embedded { waiting.append(target) }
            }
        }
        self.kept = kept
    }

    /// Removes all other classes from a copy of the realm, and the properties that link to them.
    ///
    /// Links of mixed values to their objects become null, also in the entries of dictionaries, and elements of
    /// lists and sets with such links vanish, as when the objects are deleted. Nothing that belongs to a removed class remains in the others.
    ///
    /// - Parameter transaction: A write transaction in the copy.
    /// - Throws: `StorageError` for a damaged file, or when there is no room for the changes.
    /// - Complexity: Linear in the number of removed objects and of the links to them.
    func apply(to transaction: WriteTransaction, _ tables: [Table], _ control: WorkControl?) throws(StorageError) {
        let removed = tables.filter { !kept.contains($0.key) }
        // Without these columns fewer links have to be nullified afterwards.
        for table in tables where kept.contains(table.key) {
            for column in table.columns where column.type == .link {
                guard let target = column.targetTable, !kept.contains(target) else { continue }
                try transaction.removeColumn(column.key, of: table.key)
            }
        }
        for table in removed {
            try control?.check()
            try transaction.deleteAllObjects(in: table.key)
        }
        // Links first, so that no table is a target when it goes.
        for table in removed {
            for column in table.columns where column.type == .link { try transaction.removeColumn(column.key, of: table.key) }
        }
        for table in removed { try transaction.removeTable(table.key) }
    }
}
