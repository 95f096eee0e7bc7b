// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Two versions and what was done in between, with what all observers of the range have in common.
///
/// Used on the thread of the hub only.
final class ObservedRange {
    /// The version that targets are at.
    let from: Version
    /// Where they are advanced to.
    let to: Version
    /// What was done in between.
    let log: RangeLog
    /// Which classes link to which.
    let graph: LinkGraph
    /// What was found so far, by table.
    private var affected: [TableKey: Set<ObjectKey>] = [:]
    /// What was found so far, by the chains of a filter.
    private var hits: [String: [Set<ObjectKey>]] = [:]

    /// A range over the commits that `log` sums up.
    init(from: Version, to: Version, log: RangeLog, graph: LinkGraph) {
        self.from = from
        self.to = to
        self.log = log
        self.graph = graph
    }

    /// The objects of a class that were written or reach one that was, over a few links; new ones are not among them.
    func affected(in table: TableKey) throws(StorageError) -> Set<ObjectKey> {
        if let known = affected[table] { return known }
        let result = try AffectedObjects(self, table).find()
        affected[table] = result
        return result
    }

    /// For each chain of a filter the objects at its beginning that count as changed.
    func hits(of filter: KeyPathFilter) throws(StorageError) -> [Set<ObjectKey>] {
        guard let table = filter.chains.first?.first?.table else { return [] }
        let name = "\(table.rawValue)/" + filter.chains.map { "\($0)" }.joined(separator: ",")
        if let known = hits[name] { return known }
        var result: [Set<ObjectKey>] = []
        for chain in filter.chains { result.append(try ChainHits(self).objects(chain)) }
        hits[name] = result
        return result
    }

    /// Whether objects of a class may count as modified: whether something was written that they may reach.
    func mayModify(_ table: TableKey, _ filter: ObservedTarget.Filter) -> Bool {
        switch filter {
        case .shallow: return false
        case .all:
            let distances = graph.distances(from: table)
            return log.tables.contains { !$0.value.modified.isEmpty && distances[$0.key] != nil }
        case .keyPaths(let filter):
            return filter.chains.contains { chain in
                chain.contains { step in
                    switch step {
                    case .property(let table, let column): return log.tables[table]?.columns.contains(column) == true
                    case .linkingObjects(_, let origin, _): return log.tables[origin] != nil
                    }
                }
            }
        }
    }

    /// The objects of a class that count as modified; new ones may be among them only where they are reported as new anyway.
    func modified(in table: TableKey, _ filter: ObservedTarget.Filter) throws(StorageError) -> Set<ObjectKey> {
        switch filter {
        case .shallow: return []
        case .all: return try affected(in: table)
        case .keyPaths(let filter):
            var union: Set<ObjectKey> = []
            for hits in try hits(of: filter) { union.formUnion(hits) }
            return union
        }
    }

    /// The columns of each object that were written themselves, in the order of the schema.
    func writtenColumns(of keys: [ObjectKey], in table: TableKey) -> [[ColumnKey]] {
        let columns = to.snapshot.table(table)?.columns ?? []
        let written = log.tables[table]?.modified ?? [:]
        return keys.map { key in
            guard let bits = written[key] else { return [] }
            return columns.filter { bits.contains($0.key) }.map(\.key)
        }
    }
}
