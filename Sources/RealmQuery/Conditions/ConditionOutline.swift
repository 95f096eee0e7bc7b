// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A description of how a condition is tested, from which the lines of a query plan are made.
struct ConditionOutline {
    /// The way of testing, such as `compare packed column` or `row by row`.
    let method: String
    /// The part of the query's text that the condition implements; nil when it only combines others.
    let label: String?
    /// The conditions that are combined, in the order in which they are tested; empty for a single test.
    let children: [any Condition]

    /// Creates the description of a condition.
    ///
    /// - Parameters:
    ///   - method: The way of testing.
    ///   - label: The part of the query's text, if there is one.
    ///   - children: The conditions that are combined.
    init(_ method: String, label: String? = nil, children: [any Condition] = []) {
        self.method = method
        self.label = label
        self.children = children
    }
}
