// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Combines the values of one property of the results, a leaf at a time.
///
/// Integers are summed up exactly; nulls and NaNs are left out. An aggregator is used for one
/// result.
protocol ResultAggregator: AnyObject {
    /// The property, as a path that may pass through to-one links.
    var key: SortKey { get }

    /// The aggregate over all rows that were added so far.
    var result: AggregateResult { get }

    /// Adds the values of several rows.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the class.
    ///   - rows: The rows of the leaf that belong to the result.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError)
}

extension AggregateRequest.Function {
    /// Returns the fastest aggregator for a path; nil when the type of its property does not
    /// support the function.
    func aggregator(of key: SortKey) -> (any ResultAggregator)? {
        switch (key.column.type, self) {
        case (.timestamp, .min), (.timestamp, .max):
            return key.isPlainColumn ? DateAggregator(self, key) : ValueAggregator(self, key)
        case (.int, _) where key.isPlainColumn: return IntAggregator(self, key)
        case (.double, _) where key.isPlainColumn, (.float, _) where key.isPlainColumn: return RealAggregator(self, key)
        case (.int, _), (.float, _), (.double, _), (.decimal, _), (.mixed, _): return ValueAggregator(self, key)
        default: return nil
        }
    }
}
