// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
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

    /// What is known of the rows that were added so far.
    var partial: AggregatePartial { get }

    /// Adds what is known of other rows.
    ///
    /// - Parameter partial: The partial result of an aggregator for the same function and property.
    func merge(_ partial: AggregatePartial)
}

extension AggregateRequest.Function {
    /// Returns the fastest aggregator for a path; nil when the type of its property does not
    /// support the function.
    func aggregator(of key: SortKey) -> (any ResultAggregator)? {
        guard takes(key.column.type) else { return nil }
        guard key.isPlainColumn else { return ValueAggregator(self, key) }
        switch key.column.type {
        case .timestamp: return DateAggregator(self, key)
        case .int: return IntAggregator(self, key)
        case .double, .float: return RealAggregator(self, key)
        default: return ValueAggregator(self, key)
        }
    }

    /// Returns whether values of a type can be combined in this way: numbers and mixed values
    /// always, dates to their least and greatest.
    func takes(_ type: ColumnType) -> Bool {
        switch type {
        case .int, .float, .double, .decimal, .mixed: return true
        case .timestamp: return self == .min || self == .max
        default: return false
        }
    }

    /// Throws `QueryError.invalid` with `typeMismatch` unless the function takes a type.
    ///
    /// - Parameters:
    ///   - path: The key path of the values, for the detail.
    func require(_ type: ColumnType, of path: String) throws(QueryError) {
        guard !takes(type) else { return }
        throw .invalid(
            .typeMismatch, detail: "'\(rawValue)' is not supported for '\(path)' of type '\(OperandType(type).rawValue)'",
            culprit: path, position: nil)
    }
}
