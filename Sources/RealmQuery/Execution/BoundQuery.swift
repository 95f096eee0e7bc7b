// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A query bound to the objects of one class in one snapshot.
///
/// It keeps the leaves that it read last, so it is used by one thread at a time. It keeps the snapshot too.
package final class BoundQuery {
    package let table: Table
    package let snapshot: Snapshot
    let condition: Condition
    let steps: [ResultStep]
    let mapping: KeyPathMapping
    /// Owns the bytes of the constants.
    let pool: ConstantPool
    let interrupt: Interrupt
    /// Values that may be kept to sort rows, to tell them apart or to compare them with others.
    package var sortedValueLimit: Int {
        get { interrupt.valueLimit }
        set { interrupt.valueLimit = newValue }
    }
    /// What the result depends on.
    package let dependencies: QueryDependencies

    init(
        table: Table, snapshot: Snapshot, condition: Condition, steps: [ResultStep], mapping: KeyPathMapping,
        pool: ConstantPool, interrupt: Interrupt, dependencies: QueryDependencies
    ) {
        self.interrupt = interrupt
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

    /// How many objects there are, when an index alone tells the whole result; nil otherwise. Costs next to nothing.
    package func indexedCount() throws(QueryError) -> Int? {
        guard steps.isEmpty, let (column, value) = condition.indexedEquality else { return nil }
        return try storage { () throws(StorageError) in try table.countAll(column, equalTo: value) }
    }

    /// The keys that an index offers instead of a scan; nil when a scan is better.
    func indexedKeys() throws(QueryError) -> [ObjectKey]? {
        guard condition.hasIndex else { return nil }
        let keys = try storage { () throws(StorageError) in try condition.indexedKeys(table) }
        guard let keys, IndexChoice.pays(keys.count, of: table) else { return nil }
        return keys
    }
}

extension Query {
    /// Binds the query to a class. Throws `.invalid` when it does not fit the schema or the arguments.
    ///
    /// `order` is applied after the descriptors of the text. `check` is asked whether to go on: shapes and arguments that
    /// are named often take a while.
    package func bind(
        to table: Table, in snapshot: Snapshot, arguments: [QueryArgument] = [],
        mapping: KeyPathMapping = KeyPathMapping(), order: ResultOrder = .none, check: BoundQuery.Check? = nil
    ) throws(QueryError) -> BoundQuery {
        let pool = ConstantPool()
        var binder = Binder(self, table: table, snapshot: snapshot, arguments: arguments, mapping: mapping, pool: pool)
        let condition = try binder.interrupt.watching(check) { () throws(QueryError) in try binder.condition(predicate) }
        let steps = try binder.steps(descriptors, order)
        return BoundQuery(
            table: table, snapshot: snapshot, condition: condition, steps: steps, mapping: mapping, pool: pool,
            interrupt: binder.interrupt, dependencies: binder.paths.recorder.dependencies)
    }
}
