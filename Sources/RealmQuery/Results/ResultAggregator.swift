// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Folds one property of the matches into a number or a value, a leaf at a time. Integers are summed up exactly; nulls and NaNs
/// are left out.
protocol ResultAggregator: AnyObject {
    /// The property.
    var key: SortKey { get }

    /// The result so far.
    var result: AggregateResult { get }

    /// Takes the rows of a leaf.
    func add(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError)
}

extension AggregateRequest.Function {
    /// The aggregator for a path; nil when its type does not take the function.
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
