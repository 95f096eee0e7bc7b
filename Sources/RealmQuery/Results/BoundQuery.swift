// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A query bound to the objects of one class in one snapshot: its names are resolved, and its constants are converted.
///
/// `Query.bind` makes it, mostly once for each request. It holds the snapshot, keeps the leaves that it read last, and is used
/// by one thread at a time, though not necessarily the one that made it.
package final class BoundQuery {
    /// The class whose objects are the results.
    package let table: Table
    /// The version that the query reads, which it keeps alive.
    package let snapshot: Snapshot
    /// The bound predicate, which decides whether an object matches.
    let condition: any Condition
    /// The descriptors of the text, then those that the caller added.
    let steps: [QueryPlan.ResultStep]
    /// The aliases of properties and classes, for the paths of aggregates.
    let mapping: KeyPathMapping
    /// Owns the bytes of the query's constants.
    let pool: ConstantPool
    /// The check that all conditions, operands and sorters of the query share.
    let cancellation: CancellationCheck
    /// The number of values that the query may hold at once to sort rows, to find distinct ones, or
    /// to compare them with others. Beyond it, the query fails with a storage error.
    package var sortedValueLimit: Int {
        get { cancellation.valueLimit }
        set { cancellation.valueLimit = newValue }
    }
    /// Counts of the work that the query has done so far, for tests and tools.
    package let statistics = QueryStatistics()
    /// The plan of the query; nil until results are first needed.
    private var knownPlan: QueryPlan?
    /// The tables and columns that the result of the query depends on.
    package private(set) lazy var dependencies: QueryDependencies = {
        var dependencies = reads.recorder.dependencies
        dependencies.formUnion(reads.ofRule)
        return dependencies
    }()
    /// The dependencies of the text of the query, and of the rule of the class.
    private let reads: (recorder: DependencyRecorder, ofRule: QueryDependencies)

    /// Threads that may help with long scans; nil when this thread scans alone.
    package var helpers: ScanHelpers?
    /// Makes another bound query of the same text for a helper.
    let makeTwin: @Sendable () throws(QueryError) -> BoundQuery

    /// Creates a bound query from the parts that the binder made.
    init(
        table: Table, snapshot: Snapshot, condition: any Condition, steps: [QueryPlan.ResultStep], mapping: KeyPathMapping,
        pool: ConstantPool, cancellation: CancellationCheck, reads: (recorder: DependencyRecorder, ofRule: QueryDependencies),
        makeTwin: @escaping @Sendable () throws(QueryError) -> BoundQuery
    ) {
        self.makeTwin = makeTwin
        self.cancellation = cancellation
        self.table = table
        self.snapshot = snapshot
        self.condition = condition
        self.steps = steps
        self.mapping = mapping
        self.pool = pool
        self.reads = reads
    }

    /// The columns of the class that a scan reads: those of the query itself, and those that the caller reads of the matches.
    func hints(reading columns: [Column]) -> LeafPrefetch {
        let own = dependencies.columns.filter { $0.table == table.key }.map(\.leafIndex)
        return LeafPrefetch(leafIndexes: own.sorted() + columns.map(\.leafIndex).filter { !own.contains($0) })
    }

    /// A callback that is called from time to time and returns whether the query may continue.
    package typealias Check = () -> Bool

    /// Returns the plan. It is made at the first call, which reads the indexes.
    func plan() throws(QueryError) -> QueryPlan {
        if let knownPlan { return knownPlan }
        let plan = try storage { () throws(StorageError) in try QueryPlanner(table: table).plan(condition, steps) }
        knownPlan = plan
        return plan
    }

    /// Returns the number of results when a search index alone determines it; nil otherwise.
    ///
    /// - Complexity: A few steps in the index, so it may be called on a daemon's thread.
    package func indexedCount() throws(QueryError) -> Int? {
        guard steps.isEmpty, QueryPlanner.isAnsweredByIndex(condition) else { return nil }
        return try plan().exactCount(in: table)
    }

    /// Returns the plan of the query in lines that people read.
    package func explain() throws(QueryError) -> [String] { try plan().lines(for: table) }

    /// Returns the steps of the query over the objects of a collection in lines that people read. No
    /// index is used there: each object is tested.
    ///
    /// - Parameters:
    ///   - count: The number of elements of the collection.
    ///   - name: The name of the collection.
    package func explain(count: Int, of name: String) -> [String] {
        QueryPlan(access: .scan, condition: condition, isExact: false, steps: steps, lookedUp: [:])
            .lines(titled: "read \(count) elements of '\(name)'")
    }
}

extension BoundQuery {
    /// The demands of the predicate on values that an object itself stores; nil when there are none that can be tested without
    /// reading links or collections, or too many.
    ///
    /// Constants that name objects are left out, because they become null when the object does not exist.
    package var demand: QueryDemand? {
        DemandFinder.alternatives(of: condition).map { QueryDemand($0, pool: pool) }
    }
}
