// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A query over the values of a collection, in which `self` names a value: `self > 3 SORT(self DESC)`.
///
/// It is used by one thread at a time.
package final class ElementQuery {
    /// A step that is applied to the values that match, in the order of the query.
    private enum Step {
        /// Orders the values themselves; equal values keep their order.
        case sort(isAscending: Bool)
        /// Keeps the first of several equal values, and the order of those that remain.
        case distinct
        /// Keeps the given number of values from the start, and removes the rest.
        case limit(Int)
    }

    let type: ColumnType
    /// The predicate, which reads the value to test from `element`.
    private let condition: any Condition
    /// The descriptors of the text, then those that the caller added.
    private let steps: [Step]
    /// Holds the value to test, from which the operand for `self` reads it.
    private let element: ElementOperand.Box
    private let snapshot: Snapshot
    /// Owns the bytes of the query's constants.
    private let pool: ConstantPool
    /// The check that all parts of the query share, which can stop it.
    let cancellation: CancellationCheck
    /// The number of values that the query may hold at once to compare them or to group them. Beyond it, the query fails with a storage
    /// error.
    package var sortedValueLimit: Int {
        get { cancellation.valueLimit }
        set { cancellation.valueLimit = newValue }
    }

    /// Creates the query from a bound predicate and its steps.
    private init(
        _ type: ColumnType, condition: any Condition, steps: [Step], element: ElementOperand.Box, snapshot: Snapshot,
        pool: ConstantPool, cancellation: CancellationCheck
    ) {
        self.type = type
        self.cancellation = cancellation
        self.condition = condition
        self.steps = steps
        self.element = element
        self.snapshot = snapshot
        self.pool = pool
    }

    /// Binds a query to the elements of a collection.
    ///
    /// - Parameters:
    ///   - query: The parsed query. The only path in it is `self`.
    ///   - column: A collection of values that are not links.
    ///   - snapshot: The version that is read.
    ///   - arguments: The values for `$0`, `$1` and so on.
    ///   - order: A sort and a distinct step that are added after those of the text.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Throws: `QueryError.invalid` when the query does not fit the type of the elements or the
    ///   arguments, and `.cancelled` when the check asks to stop.
    package static func bind(
        _ query: Query, to column: Column, of table: Table, in snapshot: Snapshot, arguments: [QueryArgument] = [],
        order: ResultOrder = .none, check: BoundQuery.Check? = nil
    ) throws(QueryError) -> ElementQuery {
        let pool = ConstantPool()
        let element = ElementOperand.Box()
        var binder = Binder(
            query, table: table, snapshot: snapshot, arguments: arguments, mapping: KeyPathMapping(), pool: pool)
        binder.element = (element, column.type)
        let condition = try binder.cancellation.watching(check) { () throws(QueryError) in
            try binder.condition(query.predicate)
        }
        let steps = try steps(of: query, binder) + steps(of: order)
        return ElementQuery(
            column.type, condition: condition, steps: steps, element: element, snapshot: snapshot, pool: pool,
            cancellation: binder.cancellation)
    }

    /// Returns the steps for the descriptors in the text of the query.
    ///
    /// - Throws: `QueryError.invalid` when a path in them is not `self`.
    private static func steps(of query: Query, _ binder: Binder) throws(QueryError) -> [Step] {
        var steps: [Step] = []
        for descriptor in query.descriptors {
            switch descriptor {
            case .limit(let limit): steps.append(.limit(limit))
            case .sort(let keys):
                for key in keys { try requireSelf(binder.source(key.path.range)) }
                // All keys are the value itself, so the first one decides alone.
                if let first = keys.first { steps.append(.sort(isAscending: first.isAscending)) }
            case .distinct(let paths):
                for path in paths { try requireSelf(binder.source(path.range)) }
                steps.append(.distinct)
            }
        }
        return steps
    }

    /// Returns the steps that the caller adds to those of the text.
    ///
    /// - Throws: `QueryError.invalid` when a path in them is not `self`.
    private static func steps(of order: ResultOrder) throws(QueryError) -> [Step] {
        for (index, key) in order.sort.enumerated() { try requireSelf(key.path, part: .sort(index)) }
        for (index, path) in order.distinct.enumerated() { try requireSelf(path, part: .distinct(index)) }
        let sort = order.sort.first.map { [Step.sort(isAscending: $0.isAscending)] } ?? []
        return sort + (order.distinct.isEmpty ? [] : [.distinct])
    }

    /// Throws `QueryError.invalid` unless a path is `self`, in any letter case.
    static func requireSelf(_ path: String, part: QueryError.Part = .text) throws(QueryError) {
        guard path.lowercasedASCII == "self" else {
            throw .invalid(
                .unknownProperty, detail: "a value has no property '\(path)'; write 'self' for the value", culprit: path,
                position: nil, part: part)
        }
    }

    /// Whether a step orders the values.
    package var isSorted: Bool {
        steps.contains { if case .sort = $0 { true } else { false } }
    }

    /// Returns the steps of the query in lines that people read, after a line about the collection.
    ///
    /// - Parameters:
    ///   - count: The number of elements of the collection.
    ///   - name: The name of the collection.
    package func explain(count: Int, of name: String) -> [String] {
        var plan = QueryPlan(
            access: .scan, condition: condition, isExact: false, steps: [], lookedUp: [:]
        ).lines(titled: "read \(count) elements of '\(name)'")
        for step in steps {
            switch step {
            case .sort(let isAscending): plan.append("sort by self \(isAscending ? "ASC" : "DESC")")
            case .distinct: plan.append("distinct by self")
            case .limit(let limit): plan.append("limit \(limit)")
            }
        }
        return plan
    }

    /// Returns whether a value fulfils the predicate.
    ///
    /// - Parameters:
    ///   - value: An element of the collection.
    ///   - owner: The object that holds the collection.
    package func matches(_ value: Value, owner: Row) throws(QueryError) -> Bool {
        element.value = value
        return try storage { () throws(StorageError) in
            try cancellation.step(for: value)
            return try condition.matches(owner)
        }
    }

    /// Filters, sorts and prunes values.
    ///
    /// - Parameters:
    ///   - values: The elements of the collection, in order.
    ///   - owner: The object that holds the collection.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The positions in `values` that remain, in the order of the result.
    /// - Throws: `QueryError.cancelled` when the check asks to stop.
    package func execute(_ values: [Value], owner: Row, check: BoundQuery.Check? = nil) throws(QueryError) -> [Int] {
        try cancellation.watching(check) { () throws(QueryError) in
            var positions: [Int] = []
            for (position, value) in values.enumerated() where try matches(value, owner: owner) { positions.append(position) }
            for step in steps {
                positions = try storage { () throws(StorageError) in
                    let left = apply(step, to: positions, of: values)
                    try cancellation.requireGoingOn()
                    return left
                }
            }
            return positions
        }
    }

    /// Applies a step to positions. It ends early when the query has to stop; the caller checks for that.
    private func apply(_ step: Step, to positions: [Int], of values: [Value]) -> [Int] {
        switch step {
        case .limit(let limit): return Array(positions.prefix(limit))
        case .sort(let isAscending): return sorted(positions, values, isAscending)
        case .distinct:
            let numbers = EqualValues.numbers(positions.count, while: cancellation.continues(comparing:)) {
                values[positions[$0]]
            }
            var known = Set<Int32>()
            return positions.indices.filter { known.insert(numbers[$0]).inserted }.map { positions[$0] }
        }
    }

    /// The positions in the order of their values; equal values keep their order.
    private func sorted(_ positions: [Int], _ values: [Value], _ isAscending: Bool) -> [Int] {
        positions.enumerated().sorted { left, right in
            guard cancellation.continues(comparing: values[left.element]) else { return false }
            let order = Value.exactOrder(values[left.element], values[right.element])
            if order != 0 { return isAscending ? order < 0 : order > 0 }
            return left.offset < right.offset
        }.map(\.element)
    }
}
