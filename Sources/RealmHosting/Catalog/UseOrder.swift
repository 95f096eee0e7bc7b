// SPDX-License-Identifier: Apache-2.0

internal import HeapModule
internal import RealmPlatform
internal import RealmStorage

/// Names in the order in which they were used, as far as that was said: a use costs nothing here, and who takes the first name
/// compares the known use with the last one, and inserts the name again if there was one since.
struct UseOrder: Sendable {
    /// A name with the use that is known of it.
    private struct Entry: Comparable, Sendable {
        /// The last use that is known.
        let lastUse: Instant
        let name: String

        /// Returns whether the left name was used before the right one.
        static func < (left: Entry, right: Entry) -> Bool { left.lastUse < right.lastUse }
    }

    /// The names by their known use.
    private var heap = Heap<Entry>()
    /// The names in the heap, each of which is in it once.
    private var names: Set<ByteText> = []

    var count: Int { names.count }

    /// Adds a name, unless it is there already.
    mutating func insert(_ name: String, lastUse: Instant) {
        guard names.insert(name).inserted else { return }
        heap.insert(Entry(lastUse: lastUse, name: name))
    }

    /// Removes the name with the earliest known use.
    mutating func popFirst() -> (name: String, lastUse: Instant)? {
        guard let entry = heap.popMin() else { return nil }
        names.remove(entry.name)
        return (entry.name, entry.lastUse)
    }
}
