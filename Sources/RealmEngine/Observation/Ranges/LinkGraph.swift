// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The links between the tables of a version, with the distances between them.
///
/// The columns for incoming links are the complete graph, including links in mixed values. It is used on
/// the thread of the hub only.
final class LinkGraph {
    /// The maximum number of links that are followed to find what an object reaches.
    static let maximumLinks = 3

    private var targets: [TableKey: Set<TableKey>] = [:]
    /// The distances computed so far, by the table at which they start.
    private var distances: [TableKey: [TableKey: Int]] = [:]

    /// Makes the graph of a version; it remains valid until the schema changes.
    init(_ snapshot: Snapshot) {
        for table in snapshot.tables {
            for column in table.backlinks {
                if let origin = column.targetTable { targets[origin, default: []].insert(table.key) }
            }
        }
    }

    /// Returns the tables that objects of `table` reach, with the smallest number of links; the table itself has 0.
    func distances(from table: TableKey) -> [TableKey: Int] {
        if let known = distances[table] { return known }
        var result = [table: 0]
        var border = [table]
        for links in 1...LinkGraph.maximumLinks {
            var next: [TableKey] = []
            for origin in border {
                for target in targets[origin] ?? [] where result[target] == nil {
                    result[target] = links
                    next.append(target)
                }
            }
            border = next
        }
        distances[table] = result
        return result
    }
}
