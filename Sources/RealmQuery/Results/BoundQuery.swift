// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A query bound to the objects of one class in one snapshot.
///
/// It keeps the leaves that it read last, so it is used by one thread at a time. It keeps the snapshot too.
package final class BoundQuery {
    package let table: Table
    package let snapshot: Snapshot
    let condition: any Condition
    let steps: [ResultStep]
    let mapping: KeyPathMapping
    /// Owns the bytes of the constants.
    let pool: ConstantPool
    let cancellation: CancellationCheck
    /// Values that may be kept to sort rows, to tell them apart or to compare them with others.
    package var sortedValueLimit: Int {
        get { cancellation.valueLimit }
        set { cancellation.valueLimit = newValue }
    }
    /// Counts of the work done so far.
    package let statistics = QueryStatistics()
    private var knownPlan: QueryPlan?
    /// What the result depends on.
    package let dependencies: QueryDependencies

    init(
        table: Table, snapshot: Snapshot, condition: any Condition, steps: [ResultStep], mapping: KeyPathMapping,
        pool: ConstantPool, cancellation: CancellationCheck, dependencies: QueryDependencies
    ) {
        self.cancellation = cancellation
        self.table = table
        self.snapshot = snapshot
        self.condition = condition
        self.steps = steps
        self.mapping = mapping
        self.pool = pool
        self.dependencies = dependencies
    }

    /// What a walk over the leaves of the class reads: the columns of the query itself, and others.
    func hints(reading columns: [Column]) -> LeafHints {
        let own = dependencies.columns.filter { $0.table == table.key }.map(\.leafIndex)
        return LeafHints(leafIndexes: own.sorted() + columns.map(\.leafIndex).filter { !own.contains($0) })
    }

    /// Is asked from time to time whether to go on.
    package typealias Check = () -> Bool

    /// The plan, made when it is first needed, as it reads the indexes.
    func plan() throws(QueryError) -> QueryPlan {
        if let knownPlan { return knownPlan }
        let plan = try storage { () throws(StorageError) in try QueryPlanner(table: table).plan(condition, steps) }
        knownPlan = plan
        return plan
    }

    /// How many objects there are, when an index alone tells the whole result; nil otherwise. Costs next to nothing.
    package func indexedCount() throws(QueryError) -> Int? {
        guard steps.isEmpty, QueryPlanner.isAnsweredByIndex(condition) else { return nil }
        return try plan().exactCount(in: table)
    }

    /// How the query is answered, in lines for people.
    package func explain() throws(QueryError) -> [String] { try plan().lines(for: table) }
}
