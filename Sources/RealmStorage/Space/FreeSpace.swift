// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The free bytes of a file between two commits.
///
/// - `usable` and `locked` ascend, do not overlap, and lie in `[24, logicalSize)`.
/// - No usable block crosses a section of 64 MiB, because a node must not.
/// - A locked block was freed by its version `V`: versions before `V` may still read it, so it
///   becomes usable only when the oldest version in use is `V` or later. The version on the disk
///   counts as being in use.
///
/// It is a value: a commit works on a copy, which replaces the original when the commit has succeeded. Source: docs/format.md,
/// "Free space".
package struct FreeSpace: Sendable, Equatable {
    /// A block that was released by a version and may still be read by older ones.
    package struct Locked: Sendable, Equatable {
        /// The block of bytes that was released.
        package let block: FreeBlock
        /// The first version that does not use the block.
        package let version: UInt64
        /// Whether the block has free lists only, which nothing reads any more once the version before is not in use.
        var isList = false
    }

    /// The blocks that no version in use or on disk needs, by ascending position.
    package internal(set) var usable: [FreeBlock]
    /// The blocks that versions in use, or the one on disk, may still need, by ascending position.
    package internal(set) var locked: [Locked]
    /// The offset at which the file logically ends; bytes after it are unused as well.
    package internal(set) var logicalSize: Int

    /// The size in bytes of a section, 64 MiB. A node must lie within one section.
    package static let sectionByteCount = 64 << 20

    /// Makes free space from its parts, both of which must ascend.
    package init(usable: [FreeBlock] = [], locked: [Locked] = [], logicalSize: Int) {
        self.usable = usable
        self.locked = locked
        self.logicalSize = logicalSize
    }

    /// How many entries the free lists have.
    var blockCount: Int { usable.count + locked.count }
    /// How many bytes may be used at once.
    package var usableByteCount: Int { usable.reduce(0) { $0 + $1.byteCount } }
    /// How many bytes become usable when older versions are released.
    package var lockedByteCount: Int { locked.reduce(0) { $0 + $1.block.byteCount } }

    /// Whether more than twice as many bytes are free as are in use, with an allowance of 1 MiB for small files.
    var isWasteful: Bool {
        let usable = usableByteCount
        return usable > 1 << 20 && usable > 2 * (logicalSize - usable - lockedByteCount) + 1 << 20
    }

    /// Makes usable what was freed by versions up to `oldest`, the oldest version that may still be read.
    ///
    /// - Complexity: O(number of blocks).
    ///
    /// - Parameter lists: The same for free lists, which former versions do not need.
    package mutating func release(upTo oldest: UInt64, lists: UInt64? = nil) {
        let isReleased = { (one: Locked) in one.version <= (one.isList ? max(lists ?? oldest, oldest) : oldest) }
        guard locked.contains(where: isReleased) else { return }
        let released = locked.filter(isReleased).map(\.block)
        locked.removeAll(where: isReleased)
        usable = FreeSpace.merged(usable, released)
    }

    /// Merges two ascending lists and joins neighbouring blocks, but not across the boundary of a section.
    static func merged(_ left: [FreeBlock], _ right: [FreeBlock]) -> [FreeBlock] {
        var result: [FreeBlock] = []
        result.reserveCapacity(left.count + right.count)
        var first = 0
        var second = 0
        while first < left.count || second < right.count {
            let takesLeft = second == right.count || (first < left.count && left[first].position < right[second].position)
            append(takesLeft ? left[first] : right[second], to: &result)
            if takesLeft { first += 1 } else { second += 1 }
        }
        return result
    }

    /// Adds a block at the end of a list, divided where a section ends, and joined to the block before it.
    static func append(_ block: FreeBlock, to blocks: inout [FreeBlock]) {
        var rest = block
        while rest.byteCount > 0 {
            let sectionEnd = (rest.position / sectionByteCount + 1) * sectionByteCount
            let piece = FreeBlock(position: rest.position, byteCount: min(rest.byteCount, sectionEnd - rest.position))
            if let last = blocks.last, last.end == piece.position, piece.position % sectionByteCount != 0 {
                blocks[blocks.count - 1].byteCount += piece.byteCount
            } else {
                blocks.append(piece)
            }
            rest = FreeBlock(position: piece.end, byteCount: rest.byteCount - piece.byteCount)
        }
    }

    /// Returns the size after growing by at least `needed` bytes: twice the size below 1 MiB, then
    /// 1 MiB more, rounded up to 16 KiB.
    static func grownSize(from size: Int, needed: Int) -> Int {
        let step = size < 1 << 20 ? size : 1 << 20
        return (size + max(step, needed) + 0x3fff) & ~0x3fff
    }
}

// MARK: - Blocks that a commit frees

/// The blocks that commits release, and the checks of them.
extension FreeSpace {
    /// Returns blocks in ascending order with neighbours joined.
    ///
    /// - Throws: `.corrupt` when two of them overlap, which means that a node was freed twice.
    static func joined(_ blocks: [FreeBlock]) throws(StorageError) -> [FreeBlock] {
        var result: [FreeBlock] = []
        for block in blocks.sorted(by: { $0.position < $1.position }) {
            guard let last = result.last, last.end >= block.position else {
                result.append(block)
                continue
            }
            guard last.end == block.position else { throw overlap(block.position) }
            result[result.count - 1].byteCount += block.byteCount
        }
        return result
    }

    /// Checks that ascending `blocks` lie in the file and outside of free blocks, and throws `.corrupt` otherwise.
    func requireInUse(_ blocks: [FreeBlock]) throws(StorageError) {
        var other = 0
        var lockedIndex = 0
        for block in blocks {
            guard block.position >= FileHeader.byteCount, block.end <= logicalSize else {
                throw FreeSpace.overlap(block.position)
            }
            while other < usable.count, usable[other].end <= block.position { other += 1 }
            while lockedIndex < locked.count, locked[lockedIndex].block.end <= block.position { lockedIndex += 1 }
            if other < usable.count, usable[other].position < block.end { throw FreeSpace.overlap(block.position) }
            if lockedIndex < locked.count, locked[lockedIndex].block.position < block.end {
                throw FreeSpace.overlap(block.position)
            }
        }
    }

    /// Makes the error for two free blocks that share bytes.
    private static func overlap(_ position: Int) -> StorageError {
        .corrupt(ref: Ref(UInt64(clamping: position)), reason: "a node that a change releases is used twice, or free already")
    }

    /// Adds ascending blocks that version `version` released.
    ///
    /// - Complexity: O(number of blocks).
    ///
    mutating func lock(_ blocks: [FreeBlock], version: UInt64, isList: Bool = false) {
        var result: [Locked] = []
        result.reserveCapacity(locked.count + blocks.count)
        var index = 0
        for block in blocks {
            while index < locked.count, locked[index].block.position < block.position {
                result.append(locked[index])
                index += 1
            }
            result.append(Locked(block: block, version: version, isList: isList))
        }
        result += locked[index...]
        locked = result
    }
}

/// A test whether bytes may be overwritten without preserving their contents.
extension FreeSpace {
    /// Returns whether no version uses these bytes: they lie after the logical end or in one free block.
    func isUnused(_ bytes: Range<Int>) -> Bool {
        bytes.lowerBound >= logicalSize
            || usable.contains { $0.position <= bytes.lowerBound && $0.end >= bytes.upperBound }
    }
}

// MARK: - Reading

/// Reading of the free lists of a version, which are checked completely.
extension FreeSpace {
    /// Reads the free space of the version whose top node is `top`.
    ///
    /// - Parameters:
    ///   - space: The nodes of the version.
    ///   - oldest: The oldest version that is kept; nil for the version itself, as a file that was just opened has no readers
    ///     of others.
    /// - Throws: `.corrupt` when the lists differ in length, or when blocks overlap, are misaligned
    ///   or lie outside of the file.
    package init(_ top: TopNode, _ space: NodeSpace, keeping oldest: UInt64? = nil) throws(StorageError) {
        self.init(logicalSize: top.ref.isNone ? FileHeader.byteCount : Int(clamping: top.logicalSize))
        guard logicalSize & 7 == 0 else {
            throw .corrupt(ref: top.ref, reason: "a logical file size of \(logicalSize) bytes is not a multiple of 8")
        }
        guard !top.ref.isNone, !top.freePositions.isNone, !top.freeLengths.isNone else { return }
        let positions = try FreeSpace.integers(top.freePositions, space)
        let lengths = try FreeSpace.integers(top.freeLengths, space)
        let versions = top.freeVersions.isNone ? nil : try FreeSpace.integers(top.freeVersions, space)
        guard positions.count == lengths.count, versions == nil || versions?.count == positions.count else {
            throw .corrupt(ref: top.freePositions, reason: "the lists of free blocks differ in length")
        }
        let usable = oldest ?? max(top.version, 1)
        var end = FileHeader.byteCount
        for index in 0..<positions.count {
            let block = FreeBlock(position: Int(positions[index]), byteCount: Int(lengths[index]))
            guard block.position >= end, block.position & 7 == 0, block.byteCount > 0, block.byteCount & 7 == 0,
                block.position <= logicalSize, block.byteCount <= logicalSize - block.position
            else {
                throw .corrupt(
                    ref: top.freePositions, reason: "free block \(index) is out of order, out of bounds or misaligned")
            }
            end = block.end
            let version = UInt64(clamping: versions?[index] ?? 0)
            if version > usable {
                locked.append(Locked(block: block, version: version))
            } else {
                FreeSpace.append(block, to: &self.usable)
            }
        }
    }

    /// Attaches one of the three free lists; throws `.corrupt` when it is not a plain node of integers.
    package static func integers(_ ref: Ref, _ space: NodeSpace) throws(StorageError) -> PackedIntegers {
        let node = try space.node(at: ref)
        guard !node.hasRefs else { throw node.corrupt("a free list is a plain integer node") }
        return try node.integers()
    }
}
