// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
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
    /// Limits the time of evaluations.
    let clock: EvaluationClock
    /// The affected objects found so far, by table; the error of a search that has failed, such as one for which there was no time.
    private var affected: [TableKey: Result<Set<ObjectKey>, StorageError>] = [:]
    /// The objects found so far by the chains of each filter, by its name; the error of a failed search.
    private var hits: [ByteText: Result<FilterHits, StorageError>] = [:]
    /// The results of the steps of all chains.
    private let steps = StepHits()

    /// The objects that the chains of a filter reach.
    private struct FilterHits {
        /// The numbers of the sets of objects at the starts of the chains.
        let numbers: [Int]
        let union: Set<ObjectKey>
    }

    /// Makes a range.
    ///
    /// - Parameters:
    ///   - from: The earlier version.
    ///   - to: The later version.
    ///   - log: The changes of all commits between them.
    ///   - graph: The links between the classes of the later version.
    ///   - clock: Limits the time of evaluations.
    init(from: Version, to: Version, log: RangeLog, graph: LinkGraph, clock: EvaluationClock) {
        self.clock = clock
        self.from = from
        self.to = to
        self.log = log
        self.graph = graph
    }

    /// Returns the objects of a class that were written or reach a written object, without inserted ones. The result is kept.
    func affected(in table: TableKey) throws(StorageError) -> Set<ObjectKey> {
        if let known = affected[table] { return try known.get() }
        let result: Result<Set<ObjectKey>, StorageError>
        do throws(StorageError) { result = .success(try AffectedObjects(self, table).find()) } catch { result = .failure(error) }
        affected[table] = result
        return try result.get()
    }

    /// Returns for each chain of a filter the objects at its start that count as changed. The result is kept.
    func hits(of filter: KeyPathFilter) throws(StorageError) -> [Set<ObjectKey>] {
        try found(filter).numbers.map { steps.sets[$0] }
    }

    /// Returns what the chains of a filter lead to. The result is kept, also that there was no time.
    private func found(_ filter: KeyPathFilter) throws(StorageError) -> FilterHits {
        if let known = hits[filter.name] { return try known.get() }
        let result: Result<FilterHits, StorageError>
        do throws(StorageError) { result = .success(try find(filter)) } catch { result = .failure(error) }
        hits[filter.name] = result
        return try result.get()
    }

    /// Finds what the chains of a filter lead to.
    private func find(_ filter: KeyPathFilter) throws(StorageError) -> FilterHits {
        let evaluation = ChainHits(self, steps)
        var numbers: [Int] = []
        numbers.reserveCapacity(filter.chains.count)
        for chain in filter.chains { numbers.append(try evaluation.objects(chain)) }
        var union: Set<ObjectKey> = []
        for number in Set(numbers) {
            try clock.read(0)
            union.formUnion(steps.sets[number])
        }
        return FilterHits(numbers: numbers, union: union)
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
    ///   - filter: Decides which changes count.
    /// - Returns: The keys. Inserted objects may be among them only where they are reported as inserted
    ///   anyway.
    func modified(in table: TableKey, _ filter: ObservedTarget.Filter) throws(StorageError) -> Set<ObjectKey> {
        switch filter {
        case .shallow: return []
        case .all: return try affected(in: table)
        case .keyPaths(let filter): return try found(filter).union
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
