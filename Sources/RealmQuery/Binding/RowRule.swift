// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A rule for the visible objects of a class: those that match any of some queries.
package struct RowRule: Sendable {
    /// A query with the values of its arguments.
    package struct Alternative: Sendable {
        /// The predicate; descriptors have no meaning in a rule.
        let query: Query
        /// The values for `$0`, `$1` and so on.
        let arguments: [QueryArgument]

        /// Makes an alternative.
        package init(_ query: Query, _ arguments: [QueryArgument]) {
            self.query = query
            self.arguments = arguments
        }
    }

    /// The queries of which an object has to match one. Without any, no object is shown.
    private let alternatives: [Alternative]
    /// The class with all of its objects and properties.
    private let table: Table
    /// The version with all of its objects, on which the rule is evaluated.
    private let base: Snapshot

    /// Makes the rule of a class in one version.
    ///
    /// - Parameters:
    ///   - alternatives: The queries of which an object has to match one.
    ///   - table: The class in that version.
    ///   - base: The version.
    /// - Returns: The rule. An alternative that does not fit the schema matches nothing.
    package static func make(_ alternatives: [Alternative], for table: Table, in base: Snapshot) -> ObjectRule {
        let rule = RowRule(alternatives: alternatives, table: table, base: base)
        let idle = IdleConditions(rule)
        return ObjectRule(rule, in: base.space) { leaf throws(StorageError) in try idle.evaluate(leaf) }
    }

    /// Returns what is wrong with a query as the rule of a class; nil when it fits.
    ///
    /// - Parameters:
    ///   - base: A version with the class.
    package static func defect(of alternative: Alternative, for table: Table, in base: Snapshot) -> QueryError? {
        var binder = RowRule.binder(of: alternative, for: table, in: base, ConstantPool(), CancellationCheck())
        do throws(QueryError) {
            _ = try binder.condition(alternative.query.predicate)
            return nil
        } catch {
            return error
        }
    }

    /// Returns what binds a query as the rule of a class. Values that do not fit the types of what they are compared with are an
    /// error, also in lists: the whole rule is false then, and not merely the comparison.
    private static func binder(
        of alternative: Alternative, for table: Table, in base: Snapshot, _ pool: ConstantPool, _ cancellation: CancellationCheck
    ) -> Binder {
        var binder = Binder(
            alternative.query, table: table, snapshot: base, arguments: alternative.arguments, pool: pool,
            cancellation: cancellation)
        binder.demandsFit = true
        return binder
    }

    /// The tables and columns that the rule reads.
    package var reads: QueryDependencies { bind(ConstantPool(), CancellationCheck()).reads }

    /// Binds the rule for use by one thread at a time.
    ///
    /// - Parameters:
    ///   - pool: Receives the bytes of the constants.
    ///   - cancellation: The check that can stop the evaluation.
    /// - Returns: The condition, and the tables and columns that it reads.
    func bind(_ pool: ConstantPool, _ cancellation: CancellationCheck) -> (condition: RuleCondition, reads: QueryDependencies) {
        var conditions: [any Condition] = []
        var reads = QueryDependencies()
        for alternative in alternatives {
            var binder = RowRule.binder(of: alternative, for: table, in: base, pool, cancellation)
            // A rule that does not fit the schema opens nothing.
            guard let condition = try? binder.condition(alternative.query.predicate) else { continue }
            conditions.append(condition)
            reads.formUnion(binder.paths.recorder.dependencies)
        }
        let any: any Condition
        switch conditions.count {
        case 0: any = ConstantCondition(false)
        case 1: any = conditions[0]
        default: any = OrCondition(ConditionOrder.cheapestFirst(MergeEqualities.apply(conditions, cancellation)))
        }
        return (RuleCondition(any, in: base.space), reads)
    }
}

extension SnapshotScope.Owner {
    /// The tables and columns that decide whether owners are shown. Objects that change their owner are made anew.
    package var reads: QueryDependencies {
        var reads = QueryDependencies()
        for case let rule as RowRule in rules.lazy.map(\.definition) { reads.formUnion(rule.reads) }
        return reads
    }
}

/// Conditions of one rule that no thread uses at the moment.
///
/// `@unchecked Sendable`: conditions are used by one thread at a time, and the lock guards which of them are idle.
private final class IdleConditions: @unchecked Sendable {
    /// The rule that the conditions are made of.
    private let rule: RowRule
    /// The conditions that wait for a thread, with the owners of their constants.
    private let idle = RankedMutex(.leaf, [Entry]())

    /// A condition and what it borrows from.
    private final class Entry: @unchecked Sendable {
        let pool = ConstantPool()
        let condition: RuleCondition

        init(_ rule: RowRule) { condition = rule.bind(pool, CancellationCheck()).condition }
    }

    init(_ rule: RowRule) { self.rule = rule }

    /// Returns the rows of a leaf that fulfil the rule.
    func evaluate(_ leaf: ClusterLeaf) throws(StorageError) -> Mask {
        let entry = idle.withLock { $0.popLast() } ?? Entry(rule)
        let rows = try entry.condition.evaluate(leaf, leaf.allRows)
        idle.withLock { $0.append(entry) }
        return rows
    }
}
