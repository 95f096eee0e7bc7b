// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Two versions and the changes between them, with results that the observers of the range share.
///
/// It is made for one round, or for targets that catch up, and used on the thread of the hub only.
final class ObservedRange {
    /// The version that targets are at before they are advanced.
    let from: Version
    /// The version that they are advanced to.
    let to: Version
    /// The changes between the versions.
    let log: RangeLog
    /// The links between classes.
    let graph: LinkGraph
    /// The affected objects found so far, by table.
    private var affected: [TableKey: Set<ObjectKey>] = [:]
    /// The objects found so far, by the chains of a filter.
    private var hits: [ByteText: [Set<ObjectKey>]] = [:]

    /// Makes a range.
    ///
    /// - Parameters:
    ///   - from: The earlier version.
    ///   - to: The later version.
    ///   - log: The changes of all commits between them.
    ///   - graph: The links between the classes of the later version.
    init(from: Version, to: Version, log: RangeLog, graph: LinkGraph) {
        self.from = from
        self.to = to
        self.log = log
        self.graph = graph
    }

    /// Returns the objects of a class that were written or reach a written object, without inserted ones.
    /// The result is kept.
    func affected(in table: TableKey) throws(StorageError) -> Set<ObjectKey> {
        if let known = affected[table] { return known }
        let result = try AffectedObjects(self, table).find()
        affected[table] = result
        return result
    }

    /// Returns for each chain of a filter the objects at its start that count as changed. The result is
    /// kept.
    func hits(of filter: KeyPathFilter) throws(StorageError) -> [Set<ObjectKey>] {
        guard let table = filter.chains.first?.first?.table else { return [] }
        let name = "\(table.rawValue)/" + filter.chains.map { "\($0)" }.joined(separator: ",")
        if let known = hits[name] { return known }
        var result: [Set<ObjectKey>] = []
        for chain in filter.chains { result.append(try ChainHits(self).objects(chain)) }
        hits[name] = result
        return result
    }

    /// Returns whether objects of a class may count as modified, without reading objects.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - filter: Decides which changes count.
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

    /// Returns the objects of a class that count as modified.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - filter: Decides which changes count.
    /// - Returns: The keys. Inserted objects may be among them only where they are reported as inserted
    ///   anyway.
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

    /// Returns the properties of each object that were written themselves, in the order of the schema.
    func writtenColumns(of keys: [ObjectKey], in table: TableKey) -> [[ColumnKey]] {
        let columns = to.snapshot.table(table)?.columns ?? []
        let written = log.tables[table]?.modified ?? [:]
        return keys.map { key in
            guard let bits = written[key] else { return [] }
            return columns.filter { bits.contains($0.key) }.map(\.key)
        }
    }
}
