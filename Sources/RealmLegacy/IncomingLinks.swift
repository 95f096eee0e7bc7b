// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The links of one column by their targets, which are asked for in the order of their rows.
///
/// They are sorted a window of targets at a time, so that memory is bounded however many links there are. Each window reads the column
/// once. The links to a target that has more of them than a window holds are not sorted, but handed out while the column is read.
final class IncomingLinks {
    /// The links.
    private let links: LegacyLinks
    /// How many rows the target table has.
    private let targetCount: Int
    /// How many links the column has, those to nothing not counted.
    let count: Int
    /// How many links a window has at most; see `divide`.
    var windowSize = IncomingLinks.leastWindow
    /// How many links each range of targets has; empty before they were counted.
    private var counts: [Int] = []
    /// A range of targets with more links than a window holds, and how many links each of them has.
    private var divided: (range: Int, counts: [Int])?
    /// The first row after the present window.
    private var windowEnd = 0
    /// The first row of the present window.
    private var windowStart = 0
    /// The links of the present window: the target less the first row of the window, and the origin in the lower 32 bits.
    private var window: [UInt64] = []
    /// The first link that was not taken.
    private var next = 0
    /// Whether the present window is one row, whose links are read when it is asked for.
    private var isUnsorted = false

    /// How many ranges of targets are counted.
    private static let rangeCount = 4096
    /// How many links are handed out at a time.
    private static let partSize = BPlusTreeWriter.standardLeafCapacity
    /// How many links are sorted at a time for all columns of a table at least, and for one of them.
    private static let leastTotal = 2 << 20, leastWindow = 256
    /// How many windows many links have, roughly, so that their number does not grow with that of the links. A link takes 8 bytes, so
    /// windows take no more than half the size of the file.
    private static let divisor = 16

    /// Counts the links of a column.
    ///
    /// - Parameters:
    ///   - links: The links.
    ///   - targetCount: How many rows the target table has.
    ///   - reading: The pass in which all columns of links are counted, each once, so that they cannot share their nodes.
    init(_ links: LegacyLinks, targetCount: Int, _ reading: LegacyReading) throws(StorageError) {
        self.links = links
        self.targetCount = targetCount
        var count = 0
        let limit = UInt64(targetCount)
        try links.forEach(reading) { _, target in
            if target < limit { count += 1 }
        }
        self.count = count
    }

    /// Divides the memory for windows among the columns of one table, by their numbers of links.
    ///
    /// - Parameters:
    ///   - columns: The columns.
    ///   - fileByteCount: The size of the old file in bytes.
    static func divide(_ columns: [IncomingLinks], fileByteCount: Int) {
        let total = columns.reduce(0) { $0 + $1.count }
        let size = max(leastTotal, min(total, fileByteCount) / divisor)
        for column in columns {
            let share = Double(size) * Double(column.count) / Double(max(1, total))
            column.windowSize = max(leastWindow, Int(share))
        }
    }

    /// How many targets a range has.
    private var rangeSize: Int { targetCount / IncomingLinks.rangeCount + 1 }

    /// Calls a closure with the rows that link to a row, ascending, once for each link. Rows are asked for in ascending order, each
    /// once.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - body: Gets the rows in parts, of which all but the last have as many as a full leaf.
    func take(_ row: Int, _ body: ([Int]) throws(StorageError) -> Void) throws(StorageError) {
        if row >= windowEnd { try load(from: row) }
        var origins: [Int] = []
        if isUnsorted {
            let wanted = UInt64(row)
            try links.forEach { (origin, target) throws(StorageError) in
                guard target == wanted else { return }
                origins.append(origin)
                guard origins.count == IncomingLinks.partSize else { return }
                try body(origins)
                origins.removeAll(keepingCapacity: true)
            }
        } else {
            let wanted = UInt64(row - windowStart)
            while next < window.count, window[next] >> 32 == wanted {
                origins.append(Int(window[next] & 0xffff_ffff))
                next += 1
                guard origins.count == IncomingLinks.partSize else { continue }
                try body(origins)
                origins.removeAll(keepingCapacity: true)
            }
        }
        if !origins.isEmpty { try body(origins) }
    }

    // MARK: - Windows

    /// Sorts the links of the next window.
    private func load(from row: Int) throws(StorageError) {
        window.removeAll(keepingCapacity: true)
        (windowStart, next, isUnsorted) = (row, 0, false)
        guard count > windowSize else {
            windowEnd = targetCount
            return try sort(count)
        }
        if counts.isEmpty { counts = try linkCounts(from: 0, size: rangeSize, IncomingLinks.rangeCount) }
        let range = row / rangeSize
        guard counts[range] <= windowSize else { return try load(from: row, in: range) }
        let (end, total) = extent(counts, from: range)
        windowEnd = min(targetCount, end * rangeSize)
        try sort(total)
    }

    /// Sorts the links of the next window, which is in one range of targets.
    private func load(from row: Int, in range: Int) throws(StorageError) {
        let start = range * rangeSize
        if divided?.range != range {
            divided = (range, try linkCounts(from: start, size: 1, min(rangeSize, targetCount - start)))
        }
        let (end, total) = extent(divided?.counts ?? [], from: row - start)
        windowEnd = start + end
        isUnsorted = total > windowSize
        if !isUnsorted { try sort(total) }
    }

    /// Returns the end of the window that begins at an element of a list of counts, and how many links it has: those of one element
    /// at least.
    private func extent(_ counts: [Int], from first: Int) -> (end: Int, total: Int) {
        var (end, total) = (first + 1, counts[first])
        while end < counts.count, total + counts[end] <= windowSize {
            total += counts[end]
            end += 1
        }
        return (end, total)
    }

    /// Sorts the links of the present window, of which the number is known.
    private func sort(_ total: Int) throws(StorageError) {
        guard total > 0 else { return }
        window.reserveCapacity(total)
        let (start, end) = (UInt64(windowStart), UInt64(windowEnd))
        try links.forEach { origin, target in
            guard target >= start, target < end else { return }
            self.window.append((target - start) << 32 | UInt64(origin))
        }
        window.sort()
    }

    /// Counts the links to each of some ranges of targets.
    ///
    /// - Parameters:
    ///   - start: The first row of the first range.
    ///   - size: How many rows a range has.
    ///   - rangeCount: How many ranges there are.
    private func linkCounts(from start: Int, size: Int, _ rangeCount: Int) throws(StorageError) -> [Int] {
        var counts = [Int](repeating: 0, count: rangeCount)
        let end = UInt64(min(targetCount, start + size * rangeCount))
        try links.forEach { _, target in
            guard target >= UInt64(start), target < end else { return }
            counts[(Int(target) - start) / size] += 1
        }
        return counts
    }
}
