// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Makes the plan of a query: decides whether an index leads to the matches sooner than a look at all objects does.
struct QueryPlanner {
    /// A look-up that serves a condition.
    private struct Candidate {
        var lookup: IndexLookup
        /// How many objects it offers at most.
        var count: Int
        /// Whether all of them match the condition.
        var isExact: Bool
        /// How the conditions are found that it answers.
        var lookedUp: [ObjectIdentifier: String]
    }

    /// Few enough objects to look at them one by one, whatever the size of the class.
    private static let fewObjects = 64

    /// More constants than this are not looked up one by one.
    private static let maximumValues = 256

    let table: Table

    /// Throws what reading the indexes throws.
    func plan(_ condition: any Condition, _ steps: [ResultStep]) throws(StorageError) -> QueryPlan {
        if let constant = condition as? ConstantCondition {
            return QueryPlan(
                access: constant.isTrue ? .scan : .nothing, condition: condition, isExact: true, steps: steps, lookedUp: [:])
        }
        let isOrdered = steps.contains { if case .limit = $0 { false } else { true } }
        if let found = try candidate(for: condition), found.isExact && !isOrdered || pays(found.count) {
            return QueryPlan(
                access: .lookup(found.lookup, count: found.count), condition: condition, isExact: found.isExact, steps: steps,
                lookedUp: found.lookedUp)
        }
        return QueryPlan(access: .scan, condition: condition, isExact: false, steps: steps, lookedUp: [:])
    }

    /// Whether the condition only asks for values of an indexed property. Planning it costs a few steps down the index.
    static func isAnsweredByIndex(_ condition: any Condition) -> Bool {
        switch condition {
        case let condition as ColumnCondition:
            return condition.backlinks == nil && condition.isEquality && isIndexed(condition.column, condition.constant)
        case let condition as MembershipCondition:
            return condition.values.count <= maximumValues && condition.values.allSatisfy { isIndexed(condition.column, $0) }
        default: return false
        }
    }

    /// Whether looking at `count` objects one by one is better than looking at the whole class.
    private func pays(_ count: Int) -> Bool { count <= QueryPlanner.fewObjects || count < table.count / 8 }

    /// The best look-up among whose objects all matches are; nil when no index helps.
    private func candidate(for condition: any Condition) throws(StorageError) -> Candidate? {
        switch condition {
        case let condition as ColumnCondition: return try candidate(for: condition)
        case let condition as MembershipCondition:
            guard condition.values.count <= QueryPlanner.maximumValues else { return nil }
            return try values(
                condition.values, of: condition.column, for: condition,
                "search index, one of \(condition.values.count) constants")
        case let condition as CompareCondition:
            guard let backlinks = condition.backlinks else { return nil }
            return try make(.backlinks(backlinks), isExact: false, for: condition, "incoming links of the objects")
        case let condition as FullTextCondition:
            guard condition.isIndexed else { return nil }
            return try make(.fullText(condition), isExact: true, for: condition, condition.outline.method)
        case let condition as ConstantCondition:
            guard !condition.isTrue else { return nil }
            return Candidate(lookup: .union([]), count: 0, isExact: true, lookedUp: [:])
        case let condition as AndCondition: return try fewest(of: condition.children)
        case let condition as OrCondition: return try union(of: condition.children)
        default: return nil
        }
    }

    private func candidate(for condition: ColumnCondition) throws(StorageError) -> Candidate? {
        if let backlinks = condition.backlinks {
            return try make(.backlinks(backlinks), isExact: false, for: condition, "incoming links of the object")
        }
        guard condition.isEquality else { return nil }
        return try values([condition.constant], of: condition.column, for: condition, "search index")
    }

    private func values(
        _ values: [Value], of column: Column, for condition: any Condition, _ method: String
    ) throws(StorageError) -> Candidate? {
        guard !values.isEmpty, values.allSatisfy({ QueryPlanner.isIndexed(column, $0) }) else { return nil }
        return try make(.values(column, values), isExact: true, for: condition, method)
    }

    private func make(
        _ lookup: IndexLookup, isExact: Bool, for condition: any Condition, _ method: String
    ) throws(StorageError) -> Candidate {
        Candidate(
            lookup: lookup, count: try lookup.count(in: table), isExact: isExact,
            lookedUp: [ObjectIdentifier(condition): method])
    }

    /// The objects of any child of an `AND` will do: the fewest are the best. What the others say is tested.
    private func fewest(of children: [any Condition]) throws(StorageError) -> Candidate? {
        var best: Candidate?
        for child in children {
            guard let found = try candidate(for: child), found.count < best?.count ?? .max else { continue }
            best = found
            if found.count <= QueryPlanner.fewObjects { break }
        }
        if children.count > 1 { best?.isExact = false }
        return best
    }

    /// The objects of all children of an `OR` together; nil when one of them has no look-up.
    private func union(of children: [any Condition]) throws(StorageError) -> Candidate? {
        var lookups: [IndexLookup] = []
        var count = 0
        var lookedUp: [ObjectIdentifier: String] = [:]
        for child in children {
            guard let found = try candidate(for: child) else { return nil }
            lookups.append(found.lookup)
            count += found.count
            lookedUp.merge(found.lookedUp) { first, _ in first }
        }
        return Candidate(lookup: .union(lookups), count: count, isExact: false, lookedUp: lookedUp)
    }

    /// Whether equality with `value` can be answered by the search index of `column`.
    private static func isIndexed(_ column: Column, _ value: Value) -> Bool {
        guard column.hasSearchIndex, column.collection == nil, !column.attributes.contains(.fullText) else { return false }
        switch (column.type, value) {
        case (.int, .int), (.string, .string), (.timestamp, .timestamp), (.objectID, .objectID), (.uuid, .uuid):
            return true
        default: return false
        }
    }
}
