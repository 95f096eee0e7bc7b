// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A bound predicate: it finds, for the rows of a cluster leaf and a mask at a time, those that match.
///
/// Conditions keep the leaves they read last, so a tree of them is used by one thread at a time.
protocol Condition: AnyObject {
    /// What testing one row costs, in comparisons of packed integers. The planner tests cheap conditions first.
    var cost: Double { get }

    /// How the condition is tested, for a plan that people read.
    var outline: ConditionOutline { get }

    /// The rows of `candidates` that match.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask

    /// Whether one row matches.
    func matches(_ row: Row) throws(StorageError) -> Bool
}
