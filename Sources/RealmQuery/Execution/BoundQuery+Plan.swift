// SPDX-License-Identifier: Apache-2.0

import RealmStorage

extension BoundQuery {
    /// How the query is answered, in lines for people.
    package func explain() throws(QueryError) -> [String] {
        var lines: [String] = []
        let name = table.className ?? table.name
        if let keys = try indexedKeys() {
            lines.append("look up \(keys.count) of \(table.count) objects of '\(name)'")
        } else {
            lines.append("scan \(table.count) objects of '\(name)'")
        }
        condition.explain(1, into: &lines)
        for (index, step) in steps.enumerated() {
            switch step {
            case .sort(let keys):
                var line = "sort by " + keys.map { "\($0.label) \($0.isAscending ? "ASC" : "DESC")" }.joined(separator: ", ")
                if index + 1 < steps.count, case .limit(let limit) = steps[index + 1] { line += ", keeping the first \(limit)" }
                lines.append(line)
            case .distinct(let keys): lines.append("distinct by " + keys.map(\.label).joined(separator: ", "))
            case .limit(let limit): lines.append("limit \(limit)")
            }
        }
        return lines
    }
}
