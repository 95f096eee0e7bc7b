// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension Query {
    /// Binds the query to a class: resolves names, converts constants and checks types.
    ///
    /// - Parameters:
    ///   - table: The class whose objects are tested.
    ///   - snapshot: The version that is read.
    ///   - arguments: The values for `$0`, `$1` and so on.
    ///   - mapping: Aliases of properties and classes.
    ///   - order: A sort and a distinct step that are applied after the descriptors of the text.
    ///   - check: Is called from time to time and returns whether to continue. Shapes with many corners, and arguments that are
    ///     named often, can take a while.
    /// - Returns: The bound query, for use by one thread at a time.
    /// - Throws: `QueryError.invalid` when the query does not fit the schema or the arguments,
    ///   `.storage` when the file is damaged, and `.cancelled` when the check asks to stop.
    package func bind(
        to table: Table, in snapshot: Snapshot, arguments: [QueryArgument] = [],
        mapping: KeyPathMapping = KeyPathMapping(), order: ResultOrder = .none, check: BoundQuery.Check? = nil
    ) throws(QueryError) -> BoundQuery {
        let pool = ConstantPool()
        var binder = Binder(self, table: table, snapshot: snapshot, arguments: arguments, mapping: mapping, pool: pool)
        let condition = try binder.cancellation.watching(check) { () throws(QueryError) in try binder.condition(predicate) }
        let steps = try binder.steps(descriptors, order)
        var reads = QueryDependencies()
        let visible = Query.within(table, condition, pool: pool, binder.cancellation, &reads)
        return BoundQuery(
            table: table, snapshot: snapshot, condition: visible, steps: steps, mapping: mapping, pool: pool,
            cancellation: binder.cancellation, reads: (binder.paths.recorder, ofRule: reads),
            makeTwin: { () throws(QueryError) in
                try bind(to: table, in: snapshot, arguments: arguments, mapping: mapping, order: order)
            })
    }

    /// Returns a condition for those objects of a class that its view shows.
    ///
    /// The rule of the view comes first, so that what the condition of a user reads of hidden objects can neither be
    /// noticed nor fail.
    private static func within(
        _ table: Table, _ condition: any Condition, pool: ConstantPool, _ cancellation: CancellationCheck,
        _ ruleReads: inout QueryDependencies
    ) -> any Condition {
        guard let rule = table.rule else { return condition }
        let visible: any Condition
        switch rule.definition {
        case let rows as RowRule:
            let (bound, reads) = rows.bind(pool, cancellation)
            visible = bound
            ruleReads.formUnion(reads)
        case let owners as SnapshotScope.Owner:
            visible = OwnerCondition(rule, cancellation)
            ruleReads.formUnion(owners.reads)
        // A rule of another origin cannot be read here, and opens nothing.
        default: return ConstantCondition(false)
        }
        if let constant = condition as? ConstantCondition { return constant.isTrue ? visible : constant }
        return AndCondition([visible, condition])
    }
}

/// The condition that an embedded object of a view has to fulfil to be in it: that one which owns it is in the view.
///
/// Plans do not describe its test: users of the view must not learn it.
final class OwnerCondition: Condition {
    /// The rule of the class, which remembers what it has found out about a leaf.
    private let rule: ObjectRule
    /// Stops the evaluation.
    private let cancellation: CancellationCheck

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - rule: The rule of the class.
    ///   - cancellation: The check that can stop the evaluation.
    init(_ rule: ObjectRule, _ cancellation: CancellationCheck) {
        self.rule = rule
        self.cancellation = cancellation
    }

    // Owners are found by look-ups in other classes.
    var cost: Double { 100 }
    var outline: ConditionOutline { ConditionOutline("row rule") }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        try cancellation.step(candidates.count)
        return try candidates.isEmpty ? .none : rule.shown(in: leaf) & candidates
    }

    func matches(_ row: Row) throws(StorageError) -> Bool { try rule.shows(row) }
}
