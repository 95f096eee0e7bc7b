// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A bound predicate: it finds the rows of a cluster leaf that match, a mask at a time.
///
/// The binder makes a tree of conditions from the predicate of a query. Conditions keep the leaves
/// that they read last, so a tree of them is used by one thread at a time.
protocol Condition: AnyObject {
    /// The cost of testing one row, in comparisons of packed integers. Cheap conditions are tested first.
    var cost: Double { get }

    /// A description of how the condition is tested, for a query plan that people read.
    var outline: ConditionOutline { get }

    /// Returns the rows that match.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the class that the condition is bound to.
    ///   - candidates: The rows of the leaf to test; the others are not read where that saves work.
    /// - Returns: A subset of `candidates`.
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop.
    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask

    /// Returns whether one object matches.
    ///
    /// - Parameter row: An object of the class that the condition is bound to.
    /// - Throws: The same errors as `evaluate`.
    func matches(_ row: Row) throws(StorageError) -> Bool
}
