// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks that header, reachable nodes and free blocks tile the logical file: no gap, no overlap, no node twice.
///
/// Each gap is reported as a warning with its place, and their total as an error: such bytes are lost, but no write goes there.
struct SpaceCheck {
    /// A node or free block as a range of bytes.
    private struct Extent {
        /// The offset in the file of the first byte of the range.
        let start: UInt64
        /// The offset in the file after the last byte of the range.
        let end: UInt64
        /// Whether the range is a node; else it is a free block.
        let isNode: Bool
    }

    /// The version that is checked.
    private let snapshot: Snapshot
    /// The space that is walked through.
    private let space: NodeSpace
    /// The nodes that were visited so far.
    private var seen: RefSet
    /// All nodes and free blocks that were found.
    private var extents: [Extent] = []

    /// Makes a check of how the bytes of a version are used.
    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        space = snapshot.space
        seen = RefSet(limit: snapshot.space.limit)
    }

    /// Walks through all nodes, reads the free lists and compares both.
    ///
    /// - Parameter report: Gets what is wrong, and the numbers of nodes and bytes.
    consuming func run(_ report: inout VerifyReport) throws(StorageError) {
        var check = self
        try check.walk(&report)
        report.attempt("free list") { (report) throws(StorageError) in try check.readFreeList(&report) }
        check.tile(&report)
    }

    /// Visits all nodes and collects their ranges; a node that is referenced twice, or cannot be read, is reported.
    private mutating func walk(_ report: inout VerifyReport) throws(StorageError) {
        var stack = [(ref: snapshot.top.ref, parent: Ref.none)]
        var budget = space.nodeBudget
        while let (ref, parent) = stack.popLast() {
            try report.checkControl()
            let node: Node
            do throws(StorageError) {
                node = try space.node(at: ref)
            } catch {
                report.error("\(error) (referenced from \(parent))")
                continue
            }
            guard seen.insert(ref) else {
                report.error("node \(ref) is referenced more than once, the last time from \(parent)")
                continue
            }
            report.statistics.nodes += 1
            report.statistics.usedBytes += UInt64(node.byteCount)
            extents.append(Extent(start: ref.rawValue, end: ref.rawValue + UInt64(node.byteCount), isNode: true))
            SpaceCheck.checkSection(ref, UInt64(node.byteCount), &report)
            guard node.hasRefs else { continue }
            for index in 0..<node.count {
                let raw = UInt64(bitPattern: node.integer(index))
                guard raw != 0, raw & 1 == 0 else { continue }
                stack.append((Ref(raw), ref))
                budget -= 1
            }
            guard budget >= 0 else {
                return report.error("more refs to nodes than the file has room for nodes, the last ones in \(ref)")
            }
        }
    }

    /// Warns of a node that crosses the border between two sections of the file.
    @inline(__always)
    static func checkSection(_ ref: Ref, _ byteCount: UInt64, _ report: inout VerifyReport) {
        let section = UInt64(FreeSpace.sectionByteCount)
        guard ref.rawValue / section != (ref.rawValue + byteCount - 1) / section else { return }
        report.warn("node \(ref) of \(byteCount) bytes crosses a section of 64 MiB")
    }

    /// Returns whether a free block lies inside the file, and where nodes can.
    static func isBlock(_ position: Int64, _ length: Int64, _ space: NodeSpace) -> Bool {
        position & 7 == 0 && length & 7 == 0 && length > 0 && position >= Int64(FileHeader.byteCount)
            && UInt64(position) <= space.limit && UInt64(length) <= space.limit - UInt64(position)
    }

    /// Reads the free lists and collects their ranges; throws `.corrupt` when they differ in length.
    private mutating func readFreeList(_ report: inout VerifyReport) throws(StorageError) {
        let top = snapshot.top
        guard !top.freePositions.isNone, !top.freeLengths.isNone else { return }
        let positions = try FreeSpace.integers(top.freePositions, space)
        let lengths = try FreeSpace.integers(top.freeLengths, space)
        guard positions.count == lengths.count else {
            throw .corrupt(ref: top.freePositions, reason: "\(positions.count) free blocks with \(lengths.count) lengths")
        }
        try checkVersions(positions.count, &report)
        var previous: Int64 = 0
        for index in 0..<positions.count {
            let position = positions[index]
            let length = lengths[index]
            guard SpaceCheck.isBlock(position, length, space) else {
                report.error("free block at \(position) of \(length) bytes is out of bounds or misaligned")
                continue
            }
            if position < previous { report.error("free block at \(position) is out of order") }
            previous = position
            extents.append(Extent(start: UInt64(position), end: UInt64(position) + UInt64(length), isNode: false))
            report.statistics.freeBytes += UInt64(length)
            report.statistics.freeBlocks += 1
        }
    }

    /// Reports versions of free blocks that are too few or lie in the future.
    private func checkVersions(_ count: Int, _ report: inout VerifyReport) throws(StorageError) {
        let top = snapshot.top
        guard !top.freeVersions.isNone else { return }
        let versions = try FreeSpace.integers(top.freeVersions, space)
        if versions.count != count { report.error("\(count) free blocks with \(versions.count) versions") }
        for index in 0..<versions.count where versions[index] > Int64(clamping: top.version) {
            report.error("free block \(index) was released by version \(versions[index]), after \(top.version)")
        }
    }

    /// Reports overlaps and gaps between nodes and free blocks.
    ///
    /// All ranges are sorted by their beginning and compared with their predecessor, so the time is
    /// O(n log n) for n nodes and free blocks.
    private mutating func tile(_ report: inout VerifyReport) {
        extents.sort { $0.start < $1.start }
        var cursor = UInt64(FileHeader.byteCount)
        var gap: UInt64 = 0
        for extent in extents {
            if extent.start < cursor {
                report.error("\(extent.isNode ? "node" : "free block") at \(Ref(extent.start)) overlaps what precedes it")
            } else if extent.start > cursor {
                gap += extent.start - cursor
                report.warn("bytes \(Ref(cursor)) to \(Ref(extent.start)) are neither reachable nor free")
            }
            cursor = max(cursor, extent.end)
        }
        if cursor < space.limit { gap += space.limit - cursor }
        report.statistics.unaccountedBytes = gap
        if gap > 0 { report.error("\(gap) bytes of the logical file are neither reachable nor free") }
    }
}

/// A set of refs below a limit, with one bit for each place where a node can begin.
///
/// That is less memory than a hash table takes for a file that consists mostly of nodes.
struct RefSet {
    /// The bits, one for every eight bytes of the file.
    private var words: [UInt64]

    /// Makes an empty set for refs below `limit`, the size of the file in bytes.
    init(limit: UInt64) { words = Array(repeating: 0, count: Int(clamping: limit >> 9) + 1) }

    /// Adds the ref of a node; returns false when it was in the set already.
    ///
    /// Refs at or beyond the limit are not added, and false is returned for them as well.
    mutating func insert(_ ref: Ref) -> Bool {
        let bit = ref.rawValue >> 3
        let word = Int(bit >> 6)
        let mask: UInt64 = 1 << (bit & 63)
        guard word < words.count, words[word] & mask == 0 else { return false }
        words[word] |= mask
        return true
    }
}
