// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Makes the plan of a query: decides whether an index leads to the matches sooner than a scan of all objects.
struct QueryPlanner {
    /// An index look-up that could serve a condition.
    private struct Candidate {
        /// The index look-up, whose objects include all that match the condition.
        var lookup: IndexLookup
        /// Whether all objects that the look-up offers match the condition, so that none has to be tested.
        var isExact: Bool
        /// For each condition that it answers, by its identity, the name of the method that the plan shows.
        var lookedUp: [ObjectIdentifier: String]
    }

    /// The number of objects up to which testing them one by one is worth it, whatever the size of the class.
    private static let fewObjects = 64

    /// The number of constants up to which they are looked up one by one.
    private static let maximumValues = 256

    /// The class whose objects are the results of the query.
    let table: Table

    /// Makes the plan for a condition and the steps after it.
    ///
    /// - Throws: A storage error when an index is damaged.
    /// - Complexity: The time to count the matches in the indexes that could help; objects are not
    ///   read.
    func plan(_ condition: any Condition, _ steps: [QueryPlan.ResultStep]) throws(StorageError) -> QueryPlan {
        if let constant = condition as? ConstantCondition {
            return QueryPlan(
                access: constant.isTrue ? .scan : .nothing, condition: condition, isExact: true, steps: steps, lookedUp: [:])
        }
        let isOrdered = steps.contains { if case .limit = $0 { false } else { true } }
        if let found = try candidate(for: condition),
            found.isExact && !isOrdered || QueryPlanner.pays(found.lookup.count, of: table)
        {
            return QueryPlan(
                access: .lookup(found.lookup), condition: condition, isExact: found.isExact, steps: steps,
                lookedUp: found.lookedUp)
        }
        return QueryPlan(access: .scan, condition: condition, isExact: false, steps: steps, lookedUp: [:])
    }

    /// Returns whether a condition only compares an indexed property with constants for equality.
    ///
    /// Planning such a condition takes a few steps in the index, so it may be done on a daemon's thread.
    static func isAnsweredByIndex(_ condition: any Condition) -> Bool {
        switch condition {
        case let condition as ColumnCondition:
            return condition.backlinks == nil && condition.isEquality && isIndexed(condition.column, condition.constant)
        case let condition as MembershipCondition:
            return condition.values.count <= maximumValues && !condition.ignoresCase
                && condition.values.allSatisfy { isIndexed(condition.column, $0) }
        default: return false
        }
    }

    /// Whether reading `count` objects one by one is faster than scanning the whole class.
    static func pays(_ count: Int, of table: Table) -> Bool { count <= fewObjects || count < table.count / 8 }

    /// Returns the best look-up that offers all matches of a condition; nil when no index helps.
    private func candidate(for condition: any Condition) throws(StorageError) -> Candidate? {
        switch condition {
        case let condition as ColumnCondition: return try candidate(for: condition)
        case let condition as MembershipCondition:
            guard condition.values.count <= QueryPlanner.maximumValues, !condition.ignoresCase else { return nil }
            return try values(
                condition.values, of: condition.column, for: condition,
                "search index, one of \(condition.values.count) constants")
        case let condition as CompareCondition:
            guard let backlinks = condition.backlinks else { return nil }
            return make(try IndexLookup(backlinks), isExact: false, for: condition, "incoming links of the objects")
        case let condition as FullTextCondition:
            guard let keys = try condition.indexedKeys() else { return nil }
            return make(IndexLookup([keys]), isExact: true, for: condition, condition.outline.method)
        case let condition as ConstantCondition:
            guard !condition.isTrue else { return nil }
            return Candidate(lookup: IndexLookup(), isExact: true, lookedUp: [:])
        case let condition as AndCondition: return try fewest(of: condition.children)
        case let condition as OrCondition: return try union(of: condition.children)
        case let condition as RuleCondition: return try candidate(for: condition.inner)
        default: return nil
        }
    }

    /// The look-up for a comparison of one property with a constant: by incoming links or by the search index.
    private func candidate(for condition: ColumnCondition) throws(StorageError) -> Candidate? {
        if let backlinks = condition.backlinks {
            return make(try IndexLookup(backlinks), isExact: false, for: condition, "incoming links of the object")
        }
        guard condition.isEquality else { return nil }
        return try values([condition.constant], of: condition.column, for: condition, "search index")
    }

    /// The look-up of constants in a search index; nil when the property has none, or the constants do not have its type.
    private func values(
        _ values: [Value], of column: Column, for condition: any Condition, _ method: String
    ) throws(StorageError) -> Candidate? {
        guard !values.isEmpty, values.allSatisfy({ QueryPlanner.isIndexed(column, $0) }) else { return nil }
        var lists: [IndexedKeys] = []
        for value in values { lists.append(try table.indexedKeys(column, equalTo: value)) }
        return make(IndexLookup(lists), isExact: true, for: condition, method)
    }

    /// Makes the candidate for one condition.
    ///
    /// - Parameters:
    ///   - lookup: The look-up.
    ///   - isExact: Whether all of its objects match the condition.
    ///   - condition: The condition that it answers.
    ///   - method: The name of the method that the plan shows.
    private func make(
        _ lookup: IndexLookup, isExact: Bool, for condition: any Condition, _ method: String
    ) -> Candidate {
        Candidate(lookup: lookup, isExact: isExact, lookedUp: [ObjectIdentifier(condition): method])
    }

    /// The best look-up for an `AND`: the objects of any child include all matches, so the fewest
    /// are the best. The other children are tested afterwards, hence the result is not exact.
    private func fewest(of children: [any Condition]) throws(StorageError) -> Candidate? {
        var best: Candidate?
        for child in children {
            guard let found = try candidate(for: child), found.lookup.count < best?.lookup.count ?? .max else { continue }
            best = found
            if found.lookup.count <= QueryPlanner.fewObjects { break }
        }
        if children.count > 1 { best?.isExact = false }
        return best
    }

    /// The look-up for an `OR`: the objects of all children together; nil when one of them has no look-up, or when they offer
    /// so many objects that a scan is faster. Then their lists are not kept, of which there may be thousands.
    private func union(of children: [any Condition]) throws(StorageError) -> Candidate? {
        var union = Candidate(lookup: IndexLookup(), isExact: false, lookedUp: [:])
        for child in children {
            guard let found = try candidate(for: child) else { return nil }
            union.lookup.formUnion(found.lookup)
            union.lookedUp.merge(found.lookedUp) { first, _ in first }
            guard QueryPlanner.pays(union.lookup.count, of: table) else { return nil }
        }
        return union
    }

    /// Whether equality with a value can be answered by the search index of a column.
    private static func isIndexed(_ column: Column, _ value: Value) -> Bool {
        guard column.hasSearchIndex, column.collection == nil, !column.attributes.contains(.fullText) else { return false }
        switch (column.type, value) {
        case (.int, .int), (.string, .string), (.timestamp, .timestamp), (.objectID, .objectID), (.uuid, .uuid):
            return true
        default: return false
        }
    }
}
