// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The observed rows of one class that demand something of one property.
struct PropertyTargets {
    let column: ColumnKey
    /// The observations that demand one value, by its hash. The tests of the entries distinguish values with the same hash.
    private var values: [Int: TargetList] = [:]
    /// The observations that demand a value within bounds.
    private var intervals = TargetIntervals()
    /// The observations whose demand needs a test.
    private var tested = TargetList()

    /// Makes the lists of a property, which are empty.
    init(_ column: ColumnKey) { self.column = column }

    /// Whether there is no entry.
    var isEmpty: Bool { values.isEmpty && tested.isEmpty && intervals.isEmpty }

    /// The hash by which values are filed that are equal in their order.
    static func hash(_ value: Value) -> Int { OrderedValue(value).hashValue }

    /// Adds an entry to the list that its place names.
    mutating func add(_ entry: IndexedTarget) {
        switch entry.place {
        case .value(_, _, let hash): values[hash, default: TargetList()].add(entry)
        case .interval: intervals.add(entry)
        default: tested.add(entry)
        }
    }

    /// Removes an entry, which was cleared.
    mutating func remove(_ entry: IndexedTarget) {
        switch entry.place {
        case .value(_, _, let hash):
            values[hash]?.remove(entry)
            if values[hash]?.isEmpty == true { values[hash] = nil }
        case .interval: intervals.remove(entry)
        default: tested.remove(entry)
        }
    }

    /// Calls a closure with each entry whose demand of this property a value may fulfil.
    func forEach(at value: Value, _ body: (IndexedTarget) -> Void) {
        if !values.isEmpty, let list = values[PropertyTargets.hash(value)] { for entry in list.entries { body(entry) } }
        intervals.forEach(at: value, body)
        for entry in tested.entries { body(entry) }
    }

    /// Calls a closure with all entries.
    func forEach(_ body: (IndexedTarget) -> Void) {
        for list in values.values { for entry in list.entries { body(entry) } }
        intervals.forEach(body)
        for entry in tested.entries { body(entry) }
    }
}
