// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Finds the objects of one class that were written, or from which up to three links lead to a written object.
///
/// The search starts at the written objects and follows incoming links backward. Its cost depends on the size of the change,
/// not on the number of observed objects. Tables that are too far from the class are skipped.
struct AffectedObjects {
    /// The range of versions in which objects were written.
    private let range: ObservedRange
    /// The class whose objects are searched.
    private let table: TableKey
    /// The smallest number of links from the class to each table.
    private let distances: [TableKey: Int]

    /// Prepares the search for objects of `table`.
    init(_ range: ObservedRange, _ table: TableKey) {
        self.range = range
        self.table = table
        distances = range.graph.distances(from: table)
    }

    /// Returns the objects, without those that were inserted in the range.
    ///
    /// - Throws: `StorageError` when the records of incoming links cannot be read, or not in time.
    func find() throws(StorageError) -> Set<ObjectKey> {
        var found: [TableKey: Set<ObjectKey>] = [:]
        for (key, log) in range.log.tables where distances[key] != nil && !log.modified.isEmpty {
            found[key] = Set(log.modified.keys)
        }
        guard !found.isEmpty else { return [] }
        var border = found
        for links in 1...LinkGraph.maximumLinks {
            var next: [TableKey: Set<ObjectKey>] = [:]
            for (key, objects) in border { try addOrigins(of: objects, in: key, links, &next, found) }
            for (key, objects) in next { found[key, default: []].formUnion(objects) }
            if next.isEmpty { break }
            border = next
        }
        var result = found[table] ?? []
        if let inserted = range.log.tables[table]?.inserted, !inserted.isEmpty { result.subtract(inserted) }
        return result
    }

    /// Adds the objects that link to the given ones and were not found before, as far as the class can reach them.
    private func addOrigins(
        of objects: Set<ObjectKey>, in key: TableKey, _ links: Int, _ next: inout [TableKey: Set<ObjectKey>],
        _ found: [TableKey: Set<ObjectKey>]
    ) throws(StorageError) {
        guard let table = range.to.snapshot.table(key) else { return }
        let columns = table.backlinks.filter { column in
            guard let origin = column.targetTable, let distance = distances[origin] else { return false }
            return distance + links <= LinkGraph.maximumLinks
        }
        guard !columns.isEmpty else { return }
        let finder = ObjectFinder(table)
        var count = 0
        for object in objects.sorted() {
            try range.clock.read(count)
            count += 1
            guard let row = try finder.find(object) else { continue }
            for column in columns {
                guard let origin = column.targetTable else { continue }
                for linking in try row.leaf.backlinks(column, row: row.index).keys() {
                    try range.clock.read(count)
                    count += 1
                    if found[origin]?.contains(linking) != true { next[origin, default: []].insert(linking) }
                }
            }
        }
    }
}
