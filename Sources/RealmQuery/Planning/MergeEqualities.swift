// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Turns `a == 1 OR a == 2 OR …` into one test for membership in a set, which costs the same for any number of constants.
enum MergeEqualities {
    /// Returns the children of an `OR`, in which the equalities of each property of the base class
    /// are merged into the first of them. The check limits what their readers keep.
    static func apply(_ children: [any Condition], _ cancellation: CancellationCheck) -> [any Condition] {
        var groups: [Int: [Int]] = [:]
        for (position, child) in children.enumerated() {
            if let column = mergeableColumn(child) { groups[column.leafIndex, default: []].append(position) }
        }
        var merged = children.map(Optional.some)
        for positions in groups.values where positions.count > 1 {
            guard let first = children[positions[0]] as? ColumnCondition else { continue }
            let constants = positions.compactMap { (children[$0] as? ColumnCondition)?.constant }
            for position in positions { merged[position] = nil }
            merged[positions[0]] = MembershipCondition(
                first.column, constants, label: "'\(first.column.name)' equals one of \(constants.count) constants",
                cancellation: cancellation)
        }
        return merged.compactMap { $0 }
    }

    /// The property of a condition that is an equality with null or with a constant of exactly the
    /// property's type; nil otherwise.
    private static func mergeableColumn(_ condition: any Condition) -> Column? {
        guard let condition = condition as? ColumnCondition, condition.column.type != .mixed else { return nil }
        switch condition.comparator {
        case .relation(.equal), .ieee(.equal): break
        default: return nil
        }
        let type = OperandType(condition.column.type)
        if case .link = condition.constant { return condition.column.type == .link ? condition.column : nil }
        guard condition.constant.isNull || OperandType(of: condition.constant) == type else { return nil }
        return condition.column
    }
}
