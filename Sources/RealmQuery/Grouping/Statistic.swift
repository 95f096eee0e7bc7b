// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A number about the values of a property that takes all of them, and not one after the other.
package enum Statistic: Sendable, Hashable {
    /// How many distinct values there are; null is none.
    case distinct
    /// The number at or below which a share of the numbers is, from 0 to 100: 50 is the median. Between two numbers it is
    /// interpolated. The result is a double; nulls and NaNs are left out.
    case percentile(Double)

    /// Returns whether a type has the statistic: any has distinct values, numbers and mixed values have percentiles.
    func takes(_ type: ColumnType) -> Bool {
        switch (self, type) {
        case (.distinct, _), (_, .int), (_, .float), (_, .double), (_, .decimal), (_, .mixed): return true
        default: return false
        }
    }

    /// Throws `QueryError.invalid` with `typeMismatch` unless a type has the statistic.
    ///
    /// - Parameters:
    ///   - path: The key path of the values, for the detail.
    func require(_ type: ColumnType, of path: String) throws(QueryError) {
        guard !takes(type) else { return }
        throw .invalid(
            .typeMismatch, detail: "percentiles are not supported for '\(path)' of type '\(OperandType(type).rawValue)'",
            culprit: path, position: nil)
    }

    /// Returns the percentile of some numbers; nil without any.
    package static func percentile(_ share: Double, of numbers: inout [Double]) -> Double? {
        guard !numbers.isEmpty else { return nil }
        numbers.sort()
        let position = Double(numbers.count - 1) * share / 100
        let index = Int(position.rounded(.down))
        let (low, fraction) = (numbers[index], position - Double(index))
        guard fraction > 0, index + 1 < numbers.count else { return low }
        let high = numbers[index + 1]
        // Infinite numbers have no difference.
        return low == high ? low : low * (1 - fraction) + high * fraction
    }

    /// Returns the number that counts for a percentile; nil for anything else, and for NaN.
    static func number(_ value: Value) -> Double? {
        let number: Double
        switch value {
        case .int(let integer): number = Double(integer)
        case .float(let real): number = Double(real)
        case .double(let real): number = real
        case .decimal(let decimal): number = decimal.doubleValue
        default: return nil
        }
        return number.isNaN ? nil : number
    }
}

/// Counts the distinct values of each group.
final class DistinctGroupAggregator: GroupAggregator {
    let key: SortKey
    private let numbers: GroupKey
    /// The pairs of group and value that occurred.
    private var pairs = IntegerNumbering()
    private var counts: [Int] = []
    /// The numbers of the values of one leaf.
    private var scratch = [UInt32](repeating: 0, count: Mask.capacity)
    private let cancellation: CancellationCheck
    private var heldCount = 0

    init(_ key: SortKey, _ cancellation: CancellationCheck) {
        self.key = key
        self.cancellation = cancellation
        numbers = GroupKey(key, nil, cancellation)
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        counts.extend(to: count, with: 0)
        try numbers.number(leaf, rows, into: &scratch)
        for place in 0..<rows.count {
            let known = pairs.count
            let pair = pairs.number(Int64(groups[place]) << 32 | Int64(scratch[place]))
            if Int(pair) == known, !numbers.value(Int(scratch[place])).isNull { counts[Int(groups[place])] += 1 }
        }
        let needed = (pairs.byteCount + numbers.byteCount) / CancellationCheck.bytesPerValue
        guard needed > heldCount else { return }
        try cancellation.hold(needed - heldCount)
        heldCount = needed
    }

    var bytesPerGroup: Int { MemoryLayout<Int>.stride }

    func result(of group: Int) -> AggregateResult { .value(.int(Int64(counts[group]))) }

    func release() {
        counts = []
        pairs = IntegerNumbering()
        cancellation.release(heldCount)
        heldCount = 0
    }
}

/// Keeps the numbers of each group, for a percentile.
final class PercentileGroupAggregator: GroupAggregator {
    let key: SortKey
    private let share: Double
    private var numbers: [[Double]] = []
    /// The values of one leaf.
    private var scratch: [Value] = []
    private let cancellation: CancellationCheck
    private var heldCount = 0

    init(_ share: Double, _ key: SortKey, _ cancellation: CancellationCheck) {
        self.share = share
        self.key = key
        self.cancellation = cancellation
    }

    func add(_ leaf: ClusterLeaf, _ rows: Mask, to groups: [UInt32], of count: Int) throws(StorageError) {
        numbers.extend(to: count, with: [])
        // A number takes a quarter of what the check counts as a value, and an array may be twice as long as its contents.
        let needed = (rows.count + 1) / 2
        try cancellation.hold(needed)
        heldCount += needed
        scratch.removeAll(keepingCapacity: true)
        try key.append(leaf, rows, to: &scratch)
        for place in scratch.indices {
            if let number = Statistic.number(scratch[place]) { numbers[Int(groups[place])].append(number) }
        }
    }

    var bytesPerGroup: Int { MemoryLayout<[Double]>.stride + 32 }

    func result(of group: Int) -> AggregateResult {
        .value(Statistic.percentile(share, of: &numbers[group]).map(Value.double) ?? .null)
    }

    func release() {
        numbers = []
        cancellation.release(heldCount)
        heldCount = 0
    }
}

/// Combines values one by one, as an aggregate or as a statistic.
enum ValueCollector {
    case fold(ValueFold)
    case distinct(ValueNumbering)
    case numbers([Double], Double)

    init(_ combination: AggregateRequest.Combination, of type: ColumnType, _ cancellation: CancellationCheck) {
        switch combination {
        case .function(let function): self = .fold(ValueFold(function, of: type))
        case .statistic(.distinct): self = .distinct(ValueNumbering(of: type, cancellation))
        case .statistic(.percentile(let share)): self = .numbers([], share)
        }
    }

    /// Whether the collector keeps something of each value.
    var keepsValues: Bool {
        if case .fold = self { return false }
        return true
    }

    mutating func add(_ value: Value) throws(StorageError) {
        switch self {
        case .fold(var fold):
            fold.add(value)
            self = .fold(fold)
        case .distinct(var numbering):
            guard !value.isNull, !value.isMissing else { return }
            self = .numbers([], 0)
            _ = try numbering.number(value)
            self = .distinct(numbering)
        case .numbers(var numbers, let share):
            guard let number = Statistic.number(value) else { return }
            self = .numbers([], share)
            numbers.append(number)
            self = .numbers(numbers, share)
        }
    }

    var result: AggregateResult {
        switch self {
        case .fold(let fold): return fold.result
        case .distinct(let numbering): return .value(.int(Int64(numbering.count)))
        case .numbers(var numbers, let share): return .value(Statistic.percentile(share, of: &numbers).map(Value.double) ?? .null)
        }
    }
}
