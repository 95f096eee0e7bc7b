// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Finds the objects of one class that were written, or that reach one that was over up to three links.
///
/// Goes backwards from what was written, along the records of incoming links: that costs what depends on the change,
/// however many objects are observed. Tables that are too far from the class are left out.
struct AffectedObjects {
    /// What was written.
    private let range: ObservedRange
    /// The class whose objects are looked for.
    private let table: TableKey
    /// How far each table is from that class.
    private let distances: [TableKey: Int]

    /// Looks for objects of `table`.
    init(_ range: ObservedRange, _ table: TableKey) {
        self.range = range
        self.table = table
        distances = range.graph.distances(from: table)
    }

    /// The objects, new ones not among them.
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

    /// Adds what links to the objects and was not found before, as far as it can be on a way from the class.
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
        for object in objects.sorted() {
            guard let row = try finder.find(object) else { continue }
            for column in columns {
                guard let origin = column.targetTable else { continue }
                for linking in try row.leaf.backlinks(column, row: row.index).keys() {
                    if found[origin]?.contains(linking) != true { next[origin, default: []].insert(linking) }
                }
            }
        }
    }
}
