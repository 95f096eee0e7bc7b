// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds what a condition demands of the values that an object itself stores.
enum DemandFinder {
    /// The number of ways to match up to which a query has a demand.
    private static let maximumAlternatives = 64
    /// The number of constants up to which each is a value of its own, in a list and in all alternatives together.
    private static let maximumValues = 256
    /// The number of tests of one alternative.
    private static let maximumTests = 8

    /// Returns the alternatives of which a match fulfils one; nil when the condition demands nothing of that kind.
    static func alternatives(of condition: any Condition) -> [QueryDemand.Alternative]? {
        switch condition {
        case let condition as ConstantCondition: return condition.isTrue ? nil : []
        case let condition as AndCondition: return conjunction(of: condition.children)
        case let condition as OrCondition: return disjunction(of: condition.children)
        case let condition as NotCondition: return test(of: condition.child).map { [alternative(.tested, $0.negated)] }
        default: return test(of: condition).map { [alternative(key(of: condition), $0)] }
        }
    }

    private static func alternative(_ key: QueryDemand.Key, _ test: ValueTest) -> QueryDemand.Alternative {
        QueryDemand.Alternative(column: test.column, key: key, tests: [test])
    }

    // MARK: - Single conditions

    /// Returns the test that decides as a condition on one stored value does; nil for all other conditions.
    ///
    /// Links are left out: the constant of a link is null while no object has the primary key that was named.
    private static func test(of condition: any Condition) -> ValueTest? {
        switch condition {
        case let condition as ColumnCondition where isStored(condition.column):
            if case .link = condition.constant { return nil }
            return condition.column.type == .mixed && condition.constant.isNull ? nil : ValueTest(condition)
        case let condition as RangeCondition where isStored(condition.column): return ValueTest(condition)
        case let condition as MembershipCondition where isStored(condition.column):
            let changesWithTargets = condition.column.type == .mixed && condition.values.contains { $0.isNull || $0.isLink }
            return changesWithTargets ? nil : ValueTest(condition)
        default: return nil
        }
    }

    /// Whether a property has one value that is no link.
    private static func isStored(_ column: Column) -> Bool {
        column.collection == nil && column.type != .link && column.type != .backlink
    }

    /// Returns the key by which a condition on one stored value is filed.
    private static func key(of condition: any Condition) -> QueryDemand.Key {
        switch condition {
        case let condition as RangeCondition:
            return .bounds(lower: .int(condition.limits.lowerBound), upper: .int(condition.limits.upperBound))
        case let condition as MembershipCondition:
            let values = condition.values
            return values.count <= maximumValues && !condition.ignoresCase && values.allSatisfy { isHashed($0, condition.column) }
                ? .values(values) : .tested
        case let condition as ColumnCondition: return key(of: condition)
        default: return .tested
        }
    }

    /// Returns the key by which a comparison with a constant is filed.
    private static func key(of condition: ColumnCondition) -> QueryDemand.Key {
        let relation: Relation
        switch condition.comparator {
        case .relation(let given), .nullFirst(let given), .ieee(let given): relation = given
        default: return .tested
        }
        let constant = condition.constant
        guard isOrdered(constant, condition.column) else { return .tested }
        switch relation {
        case .notEqual: return .tested
        case .equal:
            return isHashed(constant, condition.column) ? .values([constant]) : .bounds(lower: constant, upper: constant)
        case .less, .lessOrEqual: return .bounds(lower: nil, upper: constant)
        case .greater, .greaterOrEqual: return .bounds(lower: constant, upper: nil)
        }
    }

    /// Whether equal values of a property have the same hash as a constant: not numbers of different types, whose hashes differ
    /// where rounding makes them equal, and not NaN, which is equal to others in lists only.
    private static func isHashed(_ constant: Value, _ column: Column) -> Bool {
        switch (column.type, constant) {
        case (.mixed, _): return false
        case (_, .null): return true
        case (.decimal, .decimal), (.float, .float), (.double, .double): return !constant.isNaN
        case (.int, .int), (.bool, .bool), (.string, .string), (.binary, .binary), (.timestamp, .timestamp),
            (.objectID, .objectID), (.uuid, .uuid):
            return true
        default: return false
        }
    }

    /// Whether the order of values is transitive among the values of a property and a constant: decimals are compared with
    /// other numbers after rounding, so they are not mixed with them.
    private static func isOrdered(_ constant: Value, _ column: Column) -> Bool {
        switch (column.type, constant) {
        case (.int, .double), (.int, .float), (.float, .int), (.float, .double), (.double, .int), (.double, .float):
            return !constant.isNaN
        default: return isHashed(constant, column)
        }
    }

    // MARK: - Combinations

    /// Returns the alternatives of the most selective part of an `AND`, with the tests of the other parts.
    private static func conjunction(of children: [any Condition]) -> [QueryDemand.Alternative]? {
        let parts = children.compactMap { alternatives(of: $0) }
        guard let best = parts.indices.min(by: { rank(parts[$0]) < rank(parts[$1]) }) else { return nil }
        let others = parts.indices.filter { $0 != best && parts[$0].count == 1 }.map { parts[$0][0] }
        return parts[best].map { joined($0, others) }
    }

    /// Returns an alternative that passes the tests of others, too, as far as there is room for them.
    private static func joined(
        _ alternative: QueryDemand.Alternative, _ others: [QueryDemand.Alternative]
    ) -> QueryDemand.Alternative {
        let tests = alternative.tests + others.flatMap(\.tests)
        return QueryDemand.Alternative(
            column: alternative.column, key: within(alternative, others), tests: Array(tests.prefix(maximumTests)))
    }

    /// Returns the key of an alternative within the bounds that others demand of the same property.
    private static func within(
        _ alternative: QueryDemand.Alternative, _ others: [QueryDemand.Alternative]
    ) -> QueryDemand.Key {
        guard case .bounds(var lower, var upper) = alternative.key else { return alternative.key }
        for other in others where other.column == alternative.column {
            guard case .bounds(let otherLower, let otherUpper) = other.key else { continue }
            if let bound = otherLower, lower.map({ Value.order($0, bound) < 0 }) ?? true { lower = bound }
            if let bound = otherUpper, upper.map({ Value.order(bound, $0) < 0 }) ?? true { upper = bound }
        }
        return .bounds(lower: lower, upper: upper)
    }

    /// Returns the alternatives of all parts of an `OR`; nil when one of them demands nothing, or there are too many.
    private static func disjunction(of children: [any Condition]) -> [QueryDemand.Alternative]? {
        var union: [QueryDemand.Alternative] = []
        var valueCount = 0
        for child in children {
            guard let part = alternatives(of: child), union.count + part.count <= maximumAlternatives else { return nil }
            for case .values(let values) in part.lazy.map(\.key) { valueCount += values.count }
            guard valueCount <= maximumValues else { return nil }
            union += part
        }
        return union
    }

    /// The selectivity rank of alternatives; lower is more selective, and 0 is for none at all.
    private static func rank(_ alternatives: [QueryDemand.Alternative]) -> Int {
        alternatives.reduce(0) { rank, alternative in
            switch alternative.key {
            case .values(let values): return max(rank, values.count)
            case .bounds(_?, _?): return max(rank, maximumValues + 1)
            case .bounds: return max(rank, maximumValues + 2)
            case .tested: return max(rank, maximumValues + 3)
            }
        }
    }
}
