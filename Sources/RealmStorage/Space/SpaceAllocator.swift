// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Allocates positions for the nodes of one commit, as far as possible one after the other.
///
/// The smallest block that holds all of the commit is best, the smallest that holds its nodes without the free lists next.
/// Without one, blocks are used from the front of the file as long as they are worth a write of their own; then the file grows.
/// Large blocks are spared that way: the lists need one, and there are more entries in them the more fragmented the file is.
///
/// Few writes are worth some space, but not without limit: a file that changes all over is fragmented into pieces too small for
/// whole commits, and would grow with every one. So once a file has much more free space than it uses, every node goes into the
/// smallest piece that holds it, whatever that costs in writes, until the file is less fragmented.
///
/// The same is done when the free lists, which every version has anew, have become longer than the contents of the commit. Nodes
/// are mostly replaced by nodes of the same size, which fit into the places of those discarded earlier, so the lists become
/// shorter.
struct SpaceAllocator {
    /// The free space that remains after what was allocated so far.
    private(set) var free: FreeSpace
    /// The index in `free.usable` of the block that is being filled, from its front.
    private var current: Int?
    /// How many bytes of nodes are still expected to be allocated.
    private var expected: Int
    /// How many bytes the free lists will need afterwards.
    private var expectedAtEnd: Int
    /// The index at which the search for smaller blocks continues, once no single block is large enough.
    private var nextFragment: Int?
    /// The least size of a block, in bytes, that is worth a write of its own.
    private var leastByteCount = 0
    /// The index of the first block that was added by growing the file.
    private var firstGrown: Int
    /// The blocks by size, if the file has too much free space to grow; nil otherwise.
    private var holes: HoleIndex?

    /// Makes an allocator for one commit.
    ///
    /// - Parameters:
    ///   - free: The free space before the commit.
    ///   - expected: About how many bytes will be allocated with `allocate`.
    ///   - atEnd: About how many bytes will be needed by `block(with:)`.
    init(_ free: FreeSpace, expected: Int, atEnd: Int = 0) {
        self.free = free
        self.expected = expected
        expectedAtEnd = atEnd
        firstGrown = free.usable.count
        // Locked blocks stay in the lists wherever nodes are written.
        let usableShare = atEnd * free.usable.count / max(free.blockCount, 1)
        let hasLongLists = usableShare > max(SpaceAllocator.listAllowance, expected)
        if hasLongLists || free.isWasteful { holes = HoleIndex(free.usable) }
    }

    /// Allocates space for a node and returns its position.
    ///
    /// - Parameter byteCount: The size in bytes, a multiple of 8.
    /// - Throws: `.limit` for 64 MiB and more, or when the file would become too large.
    mutating func allocate(_ byteCount: Int) throws(StorageError) -> Int {
        assert(byteCount > 0 && byteCount & 7 == 0)
        guard byteCount < FreeSpace.sectionByteCount else { throw .limit("a node of \(byteCount) bytes is too large") }
        let index = try block(for: byteCount)
        let position = free.usable[index].position
        free.usable[index].position += byteCount
        free.usable[index].byteCount -= byteCount
        expected = max(expected - byteCount, 0)
        return position
    }

    /// Returns the index of a usable block of at least `byteCount` bytes, for the free lists; it is
    /// not taken out of the free space.
    ///
    /// - Throws: `.limit` for 64 MiB and more, or when the file would become too large.
    mutating func block(with byteCount: Int) throws(StorageError) -> Int {
        guard byteCount < FreeSpace.sectionByteCount else { throw .limit("a list of \(byteCount) bytes is too large") }
        expected = byteCount
        expectedAtEnd = 0
        nextFragment = nil
        return try block(for: byteCount)
    }

    /// Adds ascending blocks that version `version` releases.
    mutating func lock(_ blocks: [FreeBlock], version: UInt64, isList: Bool = false) {
        free.lock(blocks, version: version, isList: isList)
    }

    /// Reduces the logical size of a file so that it ends `byteCount` bytes after its last node,
    /// rounded up to a page. Used when nothing else will be allocated.
    mutating func trim(keeping byteCount: Int) {
        guard let last = free.usable.last, last.end == free.logicalSize else { return }
        let end = (last.position + byteCount + 4095) & ~4095
        guard end < last.end else { return }
        free.usable[free.usable.count - 1].byteCount = end - last.position
        free.logicalSize = end
    }

    /// Returns the free space after the commit, without blocks that were used up.
    consuming func finish() -> FreeSpace {
        free.usable.removeAll { $0.byteCount == 0 }
        return free
    }

    /// Returns the index of a block of at least `byteCount` bytes, from free space or by growing the file.
    private mutating func block(for byteCount: Int) throws(StorageError) -> Int {
        if let current, free.usable[current].byteCount >= byteCount { return current }
        let index: Int
        if let found = hole(for: byteCount) ?? grown(for: byteCount) ?? whole(for: byteCount) ?? fragment(for: byteCount) {
            index = found
        } else {
            try grow(by: byteCount)
            guard let found = grown(for: byteCount) else { throw .limit("no room for \(byteCount) bytes") }
            index = found
        }
        current = index
        return index
    }

    /// Returns the index of a block that was added by growing the file and is large enough.
    private func grown(for byteCount: Int) -> Int? {
        (firstGrown..<free.usable.count).first { free.usable[$0].byteCount >= byteCount }
    }

    /// Returns the index of the smallest piece with room for one node; the rest of the last one is put back before.
    private mutating func hole(for byteCount: Int) -> Int? {
        guard holes != nil else { return nil }
        if let current, current < firstGrown { holes?.insert(current, free.usable[current].byteCount) }
        current = nil
        return holes?.take(byteCount, from: free.usable)
    }

    /// Returns the index of the smallest block with room for everything that is expected, or else for all but the lists.
    private func whole(for byteCount: Int) -> Int? {
        guard nextFragment == nil, holes == nil else { return nil }
        return smallest(max(byteCount, expected) + expectedAtEnd) ?? smallest(max(byteCount, expected))
    }

    /// Returns the index of the smallest block of at least `wanted` bytes.
    private func smallest(_ wanted: Int) -> Int? {
        var best: Int?
        for (index, block) in free.usable.enumerated() where block.byteCount >= wanted {
            if best.map({ block.byteCount < free.usable[$0].byteCount }) ?? true { best = index }
        }
        return best
    }

    /// Returns the index of the next block from the front of the file that is worth a write. Small
    /// ones are, only when most of the file is free already.
    private mutating func fragment(for byteCount: Int) -> Int? {
        guard holes == nil else { return nil }
        if nextFragment == nil {
            let smallest = free.usableByteCount > free.logicalSize / 2 ? 64 : 1024
            leastByteCount = max(smallest, expected / 16)
        }
        let least = max(byteCount, min(leastByteCount, expected))
        var index = nextFragment ?? 0
        while index < firstGrown, free.usable[index].byteCount < least { index += 1 }
        nextFragment = index + 1
        return index < firstGrown ? index : nil
    }

    /// Grows the file so that a block of `byteCount` bytes is among the new ones; throws `.limit`
    /// when it would become too large.
    private mutating func grow(by byteCount: Int) throws(StorageError) {
        firstGrown = free.usable.last?.end == free.logicalSize ? free.usable.count - 1 : free.usable.count
        while true {
            let present = firstGrown < free.usable.count ? free.usable[free.usable.count - 1].byteCount : 0
            let needed = max(byteCount, expected) + expectedAtEnd - present
            let size = FreeSpace.grownSize(from: free.logicalSize, needed: max(needed, 8))
            guard size < SpaceAllocator.maximumSize else { throw .limit("a file of \(size) bytes is too large") }
            FreeSpace.append(
                FreeBlock(position: free.logicalSize, byteCount: size - free.logicalSize), to: &free.usable)
            free.logicalSize = size
            // The boundary of a section may divide the new block into pieces that are too small.
            if grown(for: byteCount) != nil { return }
        }
    }

    /// The number of bytes that free lists may always have, eight pages.
    private static let listAllowance = 32 << 10

    /// The greatest size of a file in bytes. Positions must stay well below the refs of new nodes.
    private static let maximumSize = 1 << 46
}
