// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The way in which a query is answered.
///
/// It is made once for each bound query by `QueryPlanner`, when results are first needed. Cursors,
/// counts, aggregates, pages and `explain` use it.
struct QueryPlan {
    /// The way in which the objects to test are found: a scan, an index, or none.
    let access: AccessPath
    /// The condition that they are tested with; its parts are in the order of evaluation.
    let condition: any Condition
    /// Whether all objects that the access path offers match, so that none has to be tested.
    let isExact: Bool
    /// The sorting, distinct and limiting steps that apply to the matches, in this order.
    let steps: [QueryPlan.ResultStep]
    /// For each condition that an index answers, by its identity, the name of the method that the plan shows.
    let lookedUp: [ObjectIdentifier: String]

    /// Returns the number of matches, before the steps, when it is known without reading any object; nil otherwise.
    func exactCount(in table: Table) -> Int? {
        switch access {
        case .nothing: return 0
        case .lookup(let lookup): return isExact ? lookup.count : nil
        case .scan: return (condition as? ConstantCondition)?.isTrue == true ? table.count : nil
        }
    }

    /// Returns the plan by which a cursor reads the matches.
    ///
    /// An exact look-up is planned however many objects it offers, because counts and pages need few
    /// of its keys. When all matches are read, a scan is faster unless there are few of them.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of matches to read; `Int.max` for all of them.
    ///   - table: The class whose objects are read.
    func reading(atMost limit: Int, of table: Table) -> QueryPlan {
        guard limit == .max, case .lookup(let lookup) = access, !QueryPlanner.pays(lookup.count, of: table) else {
            return self
        }
        return QueryPlan(access: .scan, condition: condition, isExact: false, steps: steps, lookedUp: [:])
    }

    /// Returns the plan in lines that people read: first the access path, then the conditions, indented, then the steps.
    func lines(for table: Table) -> [String] {
        let name = table.className ?? table.name
        // The plan does not reveal the number of hidden objects.
        guard table.rule == nil else { return lines(titled: "read visible objects of '\(name)'") }
        switch access {
        case .scan: return lines(titled: "scan \(table.count) objects of '\(name)'")
        case .nothing: return lines(titled: "look up 0 of \(table.count) objects of '\(name)'")
        case .lookup(let lookup): return lines(titled: "look up \(lookup.count) of \(table.count) objects of '\(name)'")
        }
    }

    /// Returns the conditions and the steps as lines of text, below a title.
    func lines(titled title: String) -> [String] {
        var lines = [title]
        append(condition, depth: 1, to: &lines)
        for (index, step) in steps.enumerated() { lines.append(line(step, before: steps.dropFirst(index + 1).first)) }
        return lines
    }

    /// Appends the line of a condition and, indented more, those of the conditions that it combines.
    private func append(_ condition: any Condition, depth: Int, to lines: inout [String]) {
        let outline = condition.outline
        let method = lookedUp[ObjectIdentifier(condition)] ?? outline.method
        let text = outline.label.map { "\(method): \($0)" } ?? method
        lines.append(String(repeating: "  ", count: depth) + text)
        for child in outline.children { append(child, depth: depth + 1, to: &lines) }
    }

    /// The line of a step. A sort that a limit follows keeps only the first rows, which the line states.
    private func line(_ step: QueryPlan.ResultStep, before next: QueryPlan.ResultStep?) -> String {
        switch step {
        case .limit(let limit): return "limit \(limit)"
        case .distinct(let keys): return "distinct by " + keys.map(\.label).joined(separator: ", ")
        case .sort(let keys):
            let order = keys.map { "\($0.label) \($0.isAscending ? "ASC" : "DESC")" }.joined(separator: ", ")
            guard case .limit(let limit)? = next else { return "sort by " + order }
            return "sort by \(order), keeping the first \(limit)"
        }
    }
}

extension QueryPlan {
    /// A step that is applied to the matches of a predicate, in the order of the query.
    enum ResultStep {
        /// Orders the objects by these keys; the first key decides, ties keep their order.
        case sort([SortKey])
        /// Keeps the first object for each combination of the values of these keys.
        case distinct([SortKey])
        /// Keeps the given number of objects from the start, and removes the rest.
        case limit(Int)
    }
}

/// The way in which a query finds the objects that it tests.
enum AccessPath {
    /// All objects of the class are read, leaf by leaf.
    case scan
    /// No object is read, because the condition cannot hold.
    case nothing
    /// The objects that indexes offer are read.
    case lookup(IndexLookup)

    /// Whether all objects of the class are read.
    var isScan: Bool {
        if case .scan = self { return true }
        return false
    }
}
