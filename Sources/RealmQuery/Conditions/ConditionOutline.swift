// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How a condition is tested, in the words of a plan.
struct ConditionOutline {
    /// Such as `compare packed column` or `row by row`.
    let method: String
    /// The part of the query that the condition stands for; nil when it only combines others.
    let label: String?
    /// The conditions that it combines, in the order in which they are tested.
    let children: [any Condition]

    /// An outline without children is one of a single test.
    init(_ method: String, label: String? = nil, children: [any Condition] = []) {
        self.method = method
        self.label = label
        self.children = children
    }
}
