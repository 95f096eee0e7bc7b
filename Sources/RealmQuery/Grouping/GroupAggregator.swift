// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Combines the values of one property of a result, separately for each group.
protocol GroupAggregator: AnyObject {
    /// The property, as a path that may pass through to-one links.
    var key: SortKey { get }

    /// Adds the values of several rows to their groups.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the class.
    ///   - groups: The group of each row, from its beginning.
    ///   - count: The number of groups so far, above all numbers in `groups`.
    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError)

    /// The memory that each group takes, in bytes.
    var bytesPerGroup: Int { get }

    /// Returns the aggregate of a group, which may have had no value.
    func result(of group: Int) -> AggregateResult

    /// Releases the memory of the groups. `result` must not be called afterwards.
    func release()
}

extension GroupAggregator {
    /// Returns the aggregates of the first groups, and releases the memory of all groups.
    func takeResults(_ count: Int) -> [AggregateResult] {
        let results = (0..<count).map { result(of: $0) }
        release()
        return results
    }
}

extension AggregateRequest.Function {
    /// Returns the fastest aggregator of groups for a path whose type supports the function.
    func groupAggregator(of key: SortKey) -> any GroupAggregator {
        guard key.isPlainColumn else { return ValueGroupAggregator(self, key) }
        switch key.column.type {
        case .int: return IntGroupAggregator(self, key)
        case .double, .float: return RealGroupAggregator(self, key)
        default: return ValueGroupAggregator(self, key)
        }
    }
}

extension AggregateRequest {
    /// Returns the fastest aggregator of groups for a path whose type has passed `require`.
    func groupAggregator(of key: SortKey, _ cancellation: CancellationCheck) -> any GroupAggregator {
        switch combination {
        case .function(let function): return function.groupAggregator(of: key)
        case .statistic(.distinct): return DistinctGroupAggregator(key, cancellation)
        case .statistic(.percentile(let share)): return PercentileGroupAggregator(share, key, cancellation)
        }
    }
}

/// Extends an array of cells that groups have one each of.
extension Array {
    /// Appends an element until the array has a count; does nothing when it has.
    mutating func extend(to count: Int, with element: Element) {
        while self.count < count { append(element) }
    }
}

/// Combines the values of each group for which there is no faster aggregator: decimals, dates, mixed
/// values, and properties of linked objects.
final class ValueGroupAggregator: GroupAggregator {
    let key: SortKey
    /// A fold to which nothing was added, with which each group begins.
    private let empty: ValueFold
    private var folds: [ValueFold] = []

    /// Creates the aggregator for a property of any type that supports the function.
    init(_ function: AggregateRequest.Function, _ key: SortKey) {
        empty = ValueFold(function, of: key.column.type)
        self.key = key
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        folds.extend(to: count, with: empty)
        var place = 0
        try rows.forEach { row throws(StorageError) in
            folds[Int(groups[place])].add(try key.value(Row(leaf: leaf, index: row)))
            place += 1
        }
    }

    var bytesPerGroup: Int { MemoryLayout<ValueFold>.stride }

    func release() { folds = [] }

    func result(of group: Int) -> AggregateResult { folds[group].result }
}
