// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The links of one column by their targets, which are asked for in the order of their rows.
///
/// They are sorted a window of targets at a time, so that memory is bounded however many links there are. Each window reads the column
/// once. The links to a target that has more of them than a window holds are not sorted, but handed out while the column is read.
final class IncomingLinks {
    private let links: LegacyLinks
    /// How many rows the target table has.
    private let targetCount: Int
    /// How many links the column has, those to nothing not counted.
    let count: Int
    /// How many links a window has at most; see `divide`.
    var windowSize = IncomingLinks.leastWindow
    /// How many ranges a level has at most; see `divide`.
    var rangeCount = IncomingLinks.greatestRangeCount
    /// How many links each range of targets has: of all targets first, then in each level of one range of the level before that has
    /// more links than a window holds. Empty before they were counted.
    private var levels: [Level] = []
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

    /// Targets in ranges of equal size.
    private struct Level {
        /// The first row, and the row after the last one.
        let start: Int, end: Int
        /// How many rows a range has.
        let size: Int
        /// How many links each range has.
        let counts: [Int]
    }

    /// How many ranges of targets a level has at most, and at least for each of very many columns.
    private static let greatestRangeCount = 4096, leastRangeCount = 16
    /// How many ranges the levels of all columns of a table have at most, those of very many columns excepted.
    private static let rangeTotal = 1 << 20
    /// How many links are handed out at a time.
    private static let partSize = BPlusTreeWriter.standardLeafCapacity
    /// How many links are sorted at a time for all columns of a table at least, and for one of them.
    private static let leastTotal = 2 << 20, leastWindow = 256
    /// How many links are sorted at a time at least for each of very many columns.
    private static let leastShare = 16
    /// How many windows many links have, roughly, so that their number does not grow with that of the links. A link takes 8 bytes, so
    /// windows take no more than half the size of the file.
    private static let divisor = 16

    /// Counts the links of a column.
    ///
    /// - Parameters:
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
    ///   - fileByteCount: The size of the old file in bytes.
    static func divide(_ columns: [IncomingLinks], fileByteCount: Int) {
        let total = columns.reduce(0) { $0 + $1.count }
        let size = max(leastTotal, min(total, fileByteCount) / divisor)
        let number = max(1, columns.count)
        let least = max(leastShare, min(leastWindow, size / number))
        for column in columns {
            let share = Double(size) * Double(column.count) / Double(max(1, total))
            column.windowSize = max(least, Int(share))
            column.rangeCount = max(leastRangeCount, min(greatestRangeCount, rangeTotal / number))
        }
    }

    /// Calls a closure with the rows that link to a row, ascending, once for each link. Rows are asked for in ascending order, each
    /// once.
    ///
    /// - Parameters:
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
        let found = try dividedLevel(with: row)
        let (end, total) = extent(found.level.counts, from: found.range)
        windowEnd = min(found.level.end, found.level.start + end * found.level.size)
        isUnsorted = total > windowSize
        if !isUnsorted { try sort(total) }
    }

    /// Returns the first level in which the range with a row has no more links than a window, or only this row, and the number of the
    /// range.
    private func dividedLevel(with row: Int) throws(StorageError) -> (level: Level, range: Int) {
        while let last = levels.last, row >= last.end { levels.removeLast() }
        while true {
            guard let last = levels.last else {
                levels.append(try dividedLevel(from: 0, to: targetCount))
                continue
            }
            let range = (row - last.start) / last.size
            guard last.counts[range] > windowSize, last.size > 1 else { return (last, range) }
            let start = last.start + range * last.size
            levels.append(try dividedLevel(from: start, to: min(last.end, start + last.size)))
        }
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

    /// Divides some targets into ranges, and counts the links to each of these.
    ///
    /// - Parameters:
    ///   - start: The first row.
    ///   - end: The row after the last one.
    private func dividedLevel(from start: Int, to end: Int) throws(StorageError) -> Level {
        let size = (end - start - 1) / rangeCount + 1
        var counts = [Int](repeating: 0, count: (end - start - 1) / size + 1)
        let targets = UInt64(start)..<UInt64(end)
        try links.forEach { _, target in
            guard targets.contains(target) else { return }
            counts[(Int(target) - start) / size] += 1
        }
        return Level(start: start, end: end, size: size, counts: counts)
    }
}
