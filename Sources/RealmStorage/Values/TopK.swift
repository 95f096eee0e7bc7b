// SPDX-License-Identifier: Apache-2.0

/// The first `limit` rows in the order of their keys, of rows that are offered one after the other.
///
/// Rows with equal keys stay in the order in which they were offered. A descending sort offers reversed keys. When
/// there is more than one sort property, the key is that of the first and `order` compares the others.
///
/// A heap with the last of the kept rows on top: an offer that is no better costs one comparison, another
/// O(log limit). Nothing is allocated once `limit` rows are kept.
package struct TopK: Sendable {
    /// A row that is kept.
    package struct Entry: Sendable {
        /// The key that the row was offered with.
        package let key: OrderKey
        /// What the caller calls the row: an object key, a position.
        package let row: Int64
        /// The number of the offer, counted from 0.
        @usableFromInline let turn: UInt64

        /// A row that was offered as number `turn`.
        @inlinable init(key: OrderKey, row: Int64, turn: UInt64) {
            self.key = key
            self.row = row
            self.turn = turn
        }
    }

    /// How many rows are kept at most.
    package let limit: Int
    /// The rows that are kept, as a binary heap whose first entry is the last in order.
    @usableFromInline var heap: [Entry] = []
    /// How many rows were offered so far.
    @usableFromInline var turn: UInt64 = 0

    /// An empty collection that keeps `limit` rows; nothing for a negative limit.
    package init(limit: Int) {
        self.limit = max(limit, 0)
        heap.reserveCapacity(min(self.limit, 4096))
    }

    /// How many rows are kept.
    @inlinable package var count: Int { heap.count }

    /// Once `limit` rows are kept, the greatest key among them: rows above it need not be offered, and rows equal
    /// to it only when `order` has a say. Nil before.
    @inlinable package var worst: OrderKey? { heap.count == limit ? heap.first?.key : nil }
}

/// Offering rows, and taking those that were kept.
extension TopK {
    /// Offers a row; `order` is negative when its first row comes before its second, by what is not in the keys.
    ///
    /// An offer that is not kept costs one comparison of keys, and calls `order` only for equal keys. One that is kept costs
    /// O(log limit) of both.
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

    /// Offers a row whose key says all.
    @inlinable package mutating func offer(_ key: OrderKey, _ row: Int64) { offer(key, row) { _, _ in 0 } }

    /// The kept rows in their order.
    ///
    /// Leaves the kept rows as they are. O(limit log limit).
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

    /// The kept rows in the order of their keys.
    @inlinable package func sorted() -> [Entry] { sorted { _, _ in 0 } }

    /// Whether `left` comes before `right` among the rows that are kept.
    @inlinable
    static func precedes<Failure: Error>(
        _ left: Entry, _ right: Entry, _ order: (Int64, Int64) throws(Failure) -> Int
    ) throws(Failure) -> Bool {
        if left.key != right.key { return left.key < right.key }
        let others = try order(left.row, right.row)
        return others == 0 ? left.turn < right.turn : others < 0
    }

    /// Moves the last entry up to where no entry below it comes after it.
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

    /// Moves the first entry down to where no entry below it comes after it.
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
