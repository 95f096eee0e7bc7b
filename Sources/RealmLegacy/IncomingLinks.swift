// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The links of one column by their targets, which are asked for in the order of their rows.
///
/// They are sorted a window of targets at a time, so that memory is bounded however many links there are; only the links to one range
/// of targets are never divided. Each window reads the column once.
final class IncomingLinks {
    /// The links.
    private let links: LegacyLinks
    /// How many rows the target table has.
    private let targetCount: Int
    /// The pass in which all columns of links are counted, each once, so that they cannot share their nodes.
    private let reading: LegacyReading
    /// How many links a window has at most, if several ranges of targets are in it.
    private let windowSize: Int
    /// How many links each range of targets has; nil before they were counted.
    private var counts: [Int]?
    /// The first row after the present window.
    private var windowEnd = 0
    /// The first row of the present window.
    private var windowStart = 0
    /// The links of the present window: the target less the first row of the window, and the origin in the lower 32 bits.
    private var window: [UInt64] = []
    /// The first link that was not taken.
    private var next = 0

    /// How many ranges of targets are counted.
    private static let rangeCount = 4096

    /// Makes an empty window; nothing is read yet.
    init(_ links: LegacyLinks, targetCount: Int, windowSize: Int, _ reading: LegacyReading) {
        self.links = links
        self.reading = reading
        self.targetCount = targetCount
        self.windowSize = windowSize
    }

    /// How many targets a range has.
    private var rangeSize: Int { targetCount / IncomingLinks.rangeCount + 1 }

    /// Calls a closure with the rows that link to a row, ascending, once for each link. Rows are asked for in ascending order.
    func take(_ row: Int, _ body: (Int) -> Void) throws(StorageError) {
        if row >= windowEnd { try load(from: row) }
        let wanted = UInt64(row - windowStart)
        while next < window.count, window[next] >> 32 == wanted {
            body(Int(window[next] & 0xffff_ffff))
            next += 1
        }
    }

    /// Sorts the links of the next window.
    private func load(from row: Int) throws(StorageError) {
        let counts = if let counts { counts } else { try count() }
        self.counts = counts
        var range = row / rangeSize
        var total = counts[range]
        range += 1
        while range < counts.count, total + counts[range] <= windowSize {
            total += counts[range]
            range += 1
        }
        let (start, end) = (row, min(targetCount, range * rangeSize))
        window.removeAll(keepingCapacity: true)
        window.reserveCapacity(total)
        if total > 0 {
            try links.forEach { origin, target in
                guard target >= UInt64(start), target < UInt64(end) else { return }
                self.window.append((target - UInt64(start)) << 32 | UInt64(origin))
            }
            window.sort()
        }
        (windowStart, windowEnd, next) = (start, end, 0)
    }

    /// Counts the links to each range of targets.
    private func count() throws(StorageError) -> [Int] {
        var counts = [Int](repeating: 0, count: IncomingLinks.rangeCount)
        let size = UInt64(rangeSize)
        try links.forEach(reading) { _, target in
            if target < UInt64(self.targetCount) { counts[Int(target / size)] += 1 }
        }
        return counts
    }
}
