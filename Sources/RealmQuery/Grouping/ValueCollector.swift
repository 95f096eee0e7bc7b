// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

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
