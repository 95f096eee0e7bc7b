// SPDX-License-Identifier: Apache-2.0

/// The free bytes of a file between two commits.
///
/// - `usable` and `locked` ascend, do not overlap, and lie in `[24, logicalSize)`.
/// - No usable block crosses a section of 64 MiB, because a node must not.
/// - A locked block was freed by its version `V`: versions before `V` may still read it, so it becomes usable only when
///   the oldest version that is being read is `V` or later. The version on the disk counts as being read.
///
/// A value: a commit works on a copy and puts it back when it has succeeded.
/// Source: docs/format.md, "Free space".
package struct FreeSpace: Sendable, Equatable {
    /// A block that was given up by a version and may still be read by older ones.
    package struct Locked: Sendable, Equatable {
        /// The block.
        package let block: FreeBlock
        /// The version that no longer uses it.
        package let version: UInt64
    }

    /// Blocks that no version uses, by ascending position.
    package internal(set) var usable: [FreeBlock]
    /// Blocks that versions which are being read may still use.
    package internal(set) var locked: [Locked]
    /// Where the file logically ends: what lies after it is free as well.
    package internal(set) var logicalSize: Int

    /// A node lies within one section.
    static let sectionByteCount = 64 << 20

    /// Free space from its parts; `usable` ascends.
    package init(usable: [FreeBlock] = [], locked: [Locked] = [], logicalSize: Int) {
        self.usable = usable
        self.locked = locked
        self.logicalSize = logicalSize
    }

    /// How many entries the free lists have.
    var blockCount: Int { usable.count + locked.count }
    /// The bytes that may be used at once.
    package var usableByteCount: Int { usable.reduce(0) { $0 + $1.byteCount } }
    /// The bytes that wait for a version to be let go.
    package var lockedByteCount: Int { locked.reduce(0) { $0 + $1.block.byteCount } }

    /// Whether more than twice as much is free as is in use, small files aside.
    var isWasteful: Bool {
        let usable = usableByteCount
        return usable > 1 << 20 && usable > 2 * (logicalSize - usable - lockedByteCount) + 1 << 20
    }

    /// Makes usable what was freed by versions up to `oldest`, the oldest version that may still be read.
    package mutating func release(upTo oldest: UInt64) {
        guard locked.contains(where: { $0.version <= oldest }) else { return }
        let released = locked.filter { $0.version <= oldest }.map(\.block)
        locked.removeAll { $0.version <= oldest }
        usable = FreeSpace.merged(usable, released)
    }

    /// Two ascending lists as one in which neighbours are joined, but for those in different sections.
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

    /// Adds a block at the end, cut where a section ends and joined to the block before it.
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

    /// The size after growing by at least `needed` bytes: twice the size below 1 MiB, then 1 MiB more, in steps of 16 KiB.
    static func grownSize(from size: Int, needed: Int) -> Int {
        let step = size < 1 << 20 ? size : 1 << 20
        return (size + max(step, needed) + 0x3fff) & ~0x3fff
    }
}

// MARK: - Blocks that a commit frees

/// Blocks that commits release, and when they become usable.
extension FreeSpace {
    /// Sorts blocks and joins neighbours. Throws `.corrupt` when two of them overlap: a node was freed twice.
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

    /// Checks that ascending `blocks` lie in the file and outside of what is free already.
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

    /// What is wrong with two free blocks that share bytes.
    private static func overlap(_ position: Int) -> StorageError {
        .corrupt(ref: Ref(UInt64(clamping: position)), reason: "a node that a change gives up is used twice, or free already")
    }

    /// Adds ascending blocks that version `version` freed.
    mutating func lock(_ blocks: [FreeBlock], version: UInt64) {
        var result: [Locked] = []
        result.reserveCapacity(locked.count + blocks.count)
        var index = 0
        for block in blocks {
            while index < locked.count, locked[index].block.position < block.position {
                result.append(locked[index])
                index += 1
            }
            result.append(Locked(block: block, version: version))
        }
        result += locked[index...]
        locked = result
    }
}

/// Reading the free lists of a version, checked.
extension FreeSpace {
    /// Whether no version has anything in these bytes: they lie beyond the logical end or in one free block.
    func isUnused(_ bytes: Range<Int>) -> Bool {
        bytes.lowerBound >= logicalSize
            || usable.contains { $0.position <= bytes.lowerBound && $0.end >= bytes.upperBound }
    }
}

// MARK: - Reading

extension FreeSpace {
    /// The free space of the version below `top`. Throws `.corrupt` when the lists are unequal or blocks overlap.
    package init(_ top: TopNode, _ space: NodeSpace) throws(StorageError) {
        self.init(logicalSize: top.ref.isNone ? FileHeader.byteCount : Int(clamping: top.logicalSize))
        guard logicalSize & 7 == 0 else {
            throw .corrupt(ref: top.ref, reason: "a logical file size of \(logicalSize) bytes is no multiple of 8")
        }
        guard !top.ref.isNone, !top.freePositions.isNone, !top.freeLengths.isNone else { return }
        let positions = try FreeSpace.integers(top.freePositions, space)
        let lengths = try FreeSpace.integers(top.freeLengths, space)
        let versions = top.freeVersions.isNone ? nil : try FreeSpace.integers(top.freeVersions, space)
        guard positions.count == lengths.count, versions == nil || versions?.count == positions.count else {
            throw .corrupt(ref: top.freePositions, reason: "the lists of free blocks differ in length")
        }
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
            // Nobody reads an older version of a file that was just opened, so all but the impossible is usable.
            let version = UInt64(clamping: versions?[index] ?? 0)
            if version > max(top.version, 1) {
                locked.append(Locked(block: block, version: version))
            } else {
                FreeSpace.append(block, to: &usable)
            }
        }
    }

    /// The numbers of one of the three free lists.
    static func integers(_ ref: Ref, _ space: NodeSpace) throws(StorageError) -> PackedIntegers {
        let node = try space.node(at: ref)
        guard !node.hasRefs else { throw node.corrupt("a free list is a plain integer node") }
        return try node.integers()
    }
}
