// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Cheap conditions are tested first: the expensive ones then see few rows.
enum ConditionOrder {
    /// The conditions by their cost; those of the same cost stay in the order of the query.
    static func cheapestFirst(_ conditions: [any Condition]) -> [any Condition] {
        conditions.enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
    }
}
