// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Observations by intervals of the values of one property.
///
/// Most entries are sorted by their lower bounds, and form an implicit binary tree: the middle of a range of entries is the root
/// of what is left and right of it, and knows the greatest upper bound of the range. New entries wait unsorted, and removed ones
/// stay empty, until they are too many compared with the others. So adding and removing takes O(log n) on average, and finding
/// k intervals O(log n + k) where bounds are of one kind.
struct TargetIntervals {
    /// The greatest upper bound of some entries.
    private enum Greatest {
        /// One of them has no upper bound.
        case none
        /// The greatest bound, which belongs to an entry of the tree.
        case value(Value)
    }

    /// The entries in the order of their lower bounds.
    private var sorted: [IndexedTarget] = []
    /// For each entry as the root of a range, the greatest upper bound of the range.
    private var greatest: [Greatest] = []
    /// The number of entries in `sorted` that were removed.
    private var removedCount = 0
    /// Entries that are not sorted yet.
    private var recent = TargetList()

    /// The number of unsorted or removed entries up to which nothing is sorted.
    private static let fewEntries = 32

    /// Whether there is no entry.
    var isEmpty: Bool { sorted.count == removedCount && recent.isEmpty }

    /// Adds an entry with bounds.
    mutating func add(_ entry: IndexedTarget) {
        recent.add(entry)
        sortIfNeeded()
    }

    /// Removes an entry, which was cleared.
    mutating func remove(_ entry: IndexedTarget) {
        if entry.index < recent.entries.count, recent.entries[entry.index] === entry { return recent.remove(entry) }
        removedCount += 1
        sortIfNeeded()
    }

    /// Sorts the entries when too many of them are unsorted or removed.
    private mutating func sortIfNeeded() {
        let waiting = recent.entries.count + removedCount
        guard waiting > TargetIntervals.fewEntries, waiting > sorted.count / 4 else { return }
        sorted = (sorted.filter { $0.observation != nil } + recent.entries).sorted { left, right in
            guard let bound = right.bounds.lower else { return false }
            return left.bounds.lower.map { Value.order($0, bound) < 0 } ?? true
        }
        for entry in sorted { entry.index = .max }
        recent = TargetList()
        removedCount = 0
        greatest = [Greatest](repeating: .none, count: sorted.count)
        _ = findGreatest(0, sorted.count)
    }

    /// Stores the greatest upper bounds of a range of entries and of all ranges in it; returns that of the range, nil for an
    /// empty one.
    private mutating func findGreatest(_ start: Int, _ end: Int) -> Greatest? {
        guard start < end else { return nil }
        let middle = (start + end) / 2
        var result = sorted[middle].bounds.upper.map { Greatest.value($0) } ?? .none
        for other in [findGreatest(start, middle), findGreatest(middle + 1, end)] {
            guard let other else { continue }
            switch (result, other) {
            case (.value(let known), .value(let bound)): if Value.order(known, bound) < 0 { result = other }
            case (_, .none): result = .none
            case (.none, _): break
            }
        }
        greatest[middle] = result
        return result
    }

    /// Calls a closure with the entries whose interval has a value.
    func forEach(at value: Value, _ body: (IndexedTarget) -> Void) {
        for entry in recent.entries where entry.spans(value) { body(entry) }
        forEach(at: value, 0, sorted.count, body)
    }

    /// Calls a closure with the entries of a range whose interval has a value.
    private func forEach(at value: Value, _ start: Int, _ end: Int, _ body: (IndexedTarget) -> Void) {
        guard start < end else { return }
        let middle = (start + end) / 2
        if case .value(let bound) = greatest[middle], Value.order(bound, value) < 0 { return }
        forEach(at: value, start, middle, body)
        let entry = sorted[middle]
        if let lower = entry.bounds.lower, Value.order(value, lower) < 0 { return }
        if entry.observation != nil, entry.spans(value) { body(entry) }
        forEach(at: value, middle + 1, end, body)
    }

    /// Calls a closure with all entries.
    func forEach(_ body: (IndexedTarget) -> Void) {
        for entry in recent.entries { body(entry) }
        for entry in sorted where entry.observation != nil { body(entry) }
    }
}
