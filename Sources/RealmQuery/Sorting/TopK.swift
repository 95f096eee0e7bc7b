// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The first `limit` rows in the order of their keys, of rows that are offered one after another.
///
/// Rows with equal keys stay in the order in which they were offered. A descending sort offers reversed keys. When there is
/// more than one sort property, the key is that of the first and `order` compares the others.
///
/// It is a heap with the last of the kept rows on top: an offer that is no better costs one
/// comparison, any other O(log limit). Nothing is allocated once `limit` rows are kept.
package struct TopK: Sendable {
    /// A row among the first ones so far, with its key.
    package struct Entry: Sendable {
        /// The key that the row was offered with.
        package let key: OrderKey
        /// The caller's name for the row: an object key or a position.
        package let row: Int64
        /// The number of the offer, counted from 0.
        @usableFromInline let turn: UInt64

        /// Makes the entry of a row that was offered as number `turn`.
        @inlinable init(key: OrderKey, row: Int64, turn: UInt64) {
            self.key = key
            self.row = row
            self.turn = turn
        }
    }

    /// The maximum number of kept rows.
    package let limit: Int
    /// The rows that are kept, as a binary heap whose first entry is the last in order.
    @usableFromInline var heap: [Entry] = []
    /// The number of rows offered so far.
    @usableFromInline var turn: UInt64 = 0

    /// Makes an empty collection.
    ///
    /// - Parameter limit: The maximum number of kept rows; a negative number keeps none.
    package init(limit: Int) {
        self.limit = max(limit, 0)
        heap.reserveCapacity(min(self.limit, 4096))
    }

    /// The number of kept rows, at most `limit`.
    @inlinable package var count: Int { heap.count }

    /// The greatest key among the kept rows, once `limit` rows are kept; nil before.
    ///
    /// Rows with a greater key need not be offered, and rows with an equal one only when `order` compares more properties.
    @inlinable package var worst: OrderKey? { heap.count == limit ? heap.first?.key : nil }
}

/// Offering of rows, and reading those that were kept.
extension TopK {
    /// Offers a row, which is kept if it is among the first `limit` so far.
    ///
    /// - Parameters:
    ///   - row: The caller's name for the row.
    ///   - order: Compares two rows by properties that are not in the keys: negative when the first
    ///     comes before the second. It is called for equal keys only, and its errors are rethrown.
    /// - Complexity: One comparison of keys if the row is not kept; O(log limit) if it is.
    @inlinable
    package mutating func offer<Failure: Error>(
        _ key: OrderKey, _ row: Int64, order: (Int64, Int64) throws(Failure) -> Int
    ) throws(Failure) {
        let entry = Entry(key: key, row: row, turn: turn)
        turn &+= 1
        if heap.count < limit {
            heap.append(entry)
            try siftUp(order)
        } else if limit > 0, try TopK.precedes(entry, heap[0], order) {
            heap[0] = entry
            try siftDown(order)
        }
    }

    /// Offers a row whose order follows from its key alone.
    @inlinable package mutating func offer(_ key: OrderKey, _ row: Int64) { offer(key, row) { _, _ in 0 } }

    /// Returns the kept rows in their order; they stay in the collection.
    ///
    /// - Parameter order: Compares two rows by properties that are not in the keys, as in `offer`.
    /// - Complexity: O(limit log limit).
    @inlinable
    package func sorted<Failure: Error>(order: (Int64, Int64) throws(Failure) -> Int) throws(Failure) -> [Entry] {
        var rest = self
        var entries: [Entry] = []
        entries.reserveCapacity(heap.count)
        while let last = rest.heap.first {
            entries.append(last)
            let moved = rest.heap.removeLast()
            guard !rest.heap.isEmpty else { break }
            rest.heap[0] = moved
            try rest.siftDown(order)
        }
        return entries.reversed()
    }

    /// Returns the kept rows in the order of their keys.
    @inlinable package func sorted() -> [Entry] { sorted { _, _ in 0 } }

    /// Returns whether `left` comes before `right` among the kept rows.
    @inlinable
    static func precedes<Failure: Error>(
        _ left: Entry, _ right: Entry, _ order: (Int64, Int64) throws(Failure) -> Int
    ) throws(Failure) -> Bool {
        if left.key != right.key { return left.key < right.key }
        let others = try order(left.row, right.row)
        return others == 0 ? left.turn < right.turn : others < 0
    }

    /// Moves the last entry of the heap up to where no entry below it comes after it.
    @inlinable
    mutating func siftUp<Failure: Error>(_ order: (Int64, Int64) throws(Failure) -> Int) throws(Failure) {
        var child = heap.count - 1
        let entry = heap[child]
        while child > 0 {
            let parent = (child - 1) / 2
            guard try TopK.precedes(heap[parent], entry, order) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = entry
    }

    /// Moves the first entry of the heap down to where no entry below it comes after it.
    @inlinable
    mutating func siftDown<Failure: Error>(_ order: (Int64, Int64) throws(Failure) -> Int) throws(Failure) {
        let entry = heap[0]
        var parent = 0
        while 2 * parent + 1 < heap.count {
            var child = 2 * parent + 1
            if child + 1 < heap.count, try TopK.precedes(heap[child], heap[child + 1], order) { child += 1 }
            guard try TopK.precedes(entry, heap[child], order) else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = entry
    }
}
