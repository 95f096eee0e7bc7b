// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How many links it takes from the objects of one table to those of others.
///
/// The records of incoming links are the whole graph, links in mixed values included.
final class LinkGraph {
    /// More links than this are not followed when it is asked what an object reaches.
    static let maximumLinks = 3

    /// Tables that one links to.
    private var targets: [TableKey: Set<TableKey>] = [:]
    /// What was calculated so far, by the table that it begins from.
    private var distances: [TableKey: [TableKey: Int]] = [:]

    /// The graph of one version; it stays true until the schema changes.
    init(_ snapshot: Snapshot) {
        for table in snapshot.tables {
            for column in table.backlinks {
                if let origin = column.targetTable { targets[origin, default: []].insert(table.key) }
            }
        }
    }

    /// The tables that objects of `table` reach, with the fewest links that takes; itself takes none.
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
