// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How a query is answered: made once per bound query by `QueryPlanner`; cursors, counts, aggregates, pages and `explain`
/// read it.
struct QueryPlan {
    /// Where the objects are found that are tested.
    let access: AccessPath
    /// What they are tested with, its parts in the order in which they are asked.
    let condition: any Condition
    /// Whether all objects that the access path offers match, so that none is tested.
    let isExact: Bool
    /// What happens to the matches, in this order.
    let steps: [ResultStep]
    /// How the conditions that an index answers are found, by their identities.
    let lookedUp: [ObjectIdentifier: String]

    /// How many objects match, when that is known without a look at any of them; before the steps.
    func exactCount(in table: Table) -> Int? {
        switch access {
        case .nothing: return 0
        case .lookup(_, let count): return isExact ? count : nil
        case .scan: return (condition as? ConstantCondition)?.isTrue == true ? table.count : nil
        }
    }

    /// The plan in lines for people.
    func lines(for table: Table) -> [String] {
        let name = table.className ?? table.name
        var lines: [String] = []
        switch access {
        case .scan: lines.append("scan \(table.count) objects of '\(name)'")
        case .nothing: lines.append("look up 0 of \(table.count) objects of '\(name)'")
        case .lookup(_, let count): lines.append("look up \(count) of \(table.count) objects of '\(name)'")
        }
        append(condition, depth: 1, to: &lines)
        for (index, step) in steps.enumerated() { lines.append(line(step, before: steps.dropFirst(index + 1).first)) }
        return lines
    }

    private func append(_ condition: any Condition, depth: Int, to lines: inout [String]) {
        let outline = condition.outline
        let method = lookedUp[ObjectIdentifier(condition)] ?? outline.method
        let text = outline.label.map { "\(method): \($0)" } ?? method
        lines.append(String(repeating: "  ", count: depth) + text)
        for child in outline.children { append(child, depth: depth + 1, to: &lines) }
    }

    private func line(_ step: ResultStep, before next: ResultStep?) -> String {
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
