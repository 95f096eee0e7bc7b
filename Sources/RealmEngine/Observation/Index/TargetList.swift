// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Observations that the same changes concern, in no order.
struct TargetList {
    /// The entries, each of which knows its index.
    private(set) var entries: [IndexedTarget] = []

    /// Whether there is no entry.
    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ entry: IndexedTarget) {
        entry.index = entries.count
        entries.append(entry)
    }

    /// Removes an entry, by moving the last one to its place.
    mutating func remove(_ entry: IndexedTarget) {
        guard entry.index < entries.count, entries[entry.index] === entry else { return }
        let last = entries.removeLast()
        guard last !== entry else { return }
        entries[entry.index] = last
        last.index = entry.index
    }
}
