// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The order in which the parts of an `AND` or `OR` are tested: cheap conditions first, so that expensive ones see few rows.
enum ConditionOrder {
    /// Returns conditions in ascending order of their cost; those of the same cost keep the order of the query.
    static func cheapestFirst(_ conditions: [any Condition]) -> [any Condition] {
        conditions.enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
    }
}
