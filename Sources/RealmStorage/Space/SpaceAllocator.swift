// SPDX-License-Identifier: Apache-2.0

/// Hands out positions for the nodes of one commit, as far as possible one after the other.
///
/// The smallest block that holds all of the commit is best, the smallest that holds its nodes without the free lists
/// next. Without one, blocks are used from the front of the file as long as they are worth a write of their own; then the
/// file grows. Large blocks are spared that way: the lists need one, and there are more of them the more the file is cut up.
///
/// Few writes are worth some space, but not space without end: a file that changes all over is cut into pieces too small
/// for whole commits, and would grow with every one. So once a file has much more free space than it uses, every node
/// goes into the smallest piece that holds it, whatever that costs in writes, until the file is in better order.
struct SpaceAllocator {
    /// What is left of the free space.
    private(set) var free: FreeSpace
    /// The index of the block that is being filled, in `free.usable`. Filled blocks shrink from the front.
    private var current: Int?
    /// Bytes of nodes that are expected to be asked for.
    private var expected: Int
    /// Bytes that the free lists will ask for afterwards.
    private var expectedAtEnd: Int
    /// Where the search for smaller blocks goes on, once no single block is large enough.
    private var nextFragment: Int?
    /// Smaller blocks are not worth a write of their own.
    private var leastByteCount = 0
    /// Blocks from here on came by growing.
    private var firstGrown: Int
    /// Where nodes go when the file has too much free space to grow.
    private var holes: HoleIndex?

    /// `expected` is about how many bytes will be asked for by `allocate`, `atEnd` how many by `block(with:)`.
    init(_ free: FreeSpace, expected: Int, atEnd: Int = 0) {
        self.free = free
        self.expected = expected
        expectedAtEnd = atEnd
        firstGrown = free.usable.count
        if free.isWasteful { holes = HoleIndex(free.usable) }
    }

    /// The position of `byteCount` bytes, a multiple of 8 below 64 MiB.
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

    /// The usable block from which the next `byteCount` bytes will come.
    mutating func block(with byteCount: Int) throws(StorageError) -> Int {
        guard byteCount < FreeSpace.sectionByteCount else { throw .limit("a list of \(byteCount) bytes is too large") }
        expected = byteCount
        expectedAtEnd = 0
        nextFragment = nil
        return try block(for: byteCount)
    }

    /// Adds ascending blocks that version `version` frees.
    mutating func lock(_ blocks: [FreeBlock], version: UInt64) { free.lock(blocks, version: version) }

    /// Cuts the end of a file off of which nothing but the next `byteCount` bytes is going to be used.
    mutating func trim(keeping byteCount: Int) {
        guard let last = free.usable.last, last.end == free.logicalSize else { return }
        let end = (last.position + byteCount + 4095) & ~4095
        guard end < last.end else { return }
        free.usable[free.usable.count - 1].byteCount = end - last.position
        free.logicalSize = end
    }

    /// What is free now; blocks that were used up are gone.
    consuming func finish() -> FreeSpace {
        free.usable.removeAll { $0.byteCount == 0 }
        return free
    }

    /// A block of at least so many bytes, from free space or at the end of the file.
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

    /// A block that came by growing.
    private func grown(for byteCount: Int) -> Int? {
        (firstGrown..<free.usable.count).first { free.usable[$0].byteCount >= byteCount }
    }

    /// The smallest piece with room for one node; what is left of the last one can be used again.
    private mutating func hole(for byteCount: Int) -> Int? {
        guard holes != nil else { return nil }
        if let current, current < firstGrown { holes?.insert(current, free.usable[current].byteCount) }
        current = nil
        return holes?.take(byteCount, from: free.usable)
    }

    /// The smallest block with room for everything that is expected, or else for all but the lists.
    private func whole(for byteCount: Int) -> Int? {
        guard nextFragment == nil, holes == nil else { return nil }
        return smallest(max(byteCount, expected) + expectedAtEnd) ?? smallest(max(byteCount, expected))
    }

    /// The smallest hole that is large enough.
    private func smallest(_ wanted: Int) -> Int? {
        var best: Int?
        for (index, block) in free.usable.enumerated() where block.byteCount >= wanted {
            if best.map({ block.byteCount < free.usable[$0].byteCount }) ?? true { best = index }
        }
        return best
    }

    /// The next block from the front. Small ones count only when most of the file is free already.
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

    /// Lengthens the file so that a block of `byteCount` bytes is among what is new.
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
            // What is new may be cut by a section into pieces that are too small.
            if grown(for: byteCount) != nil { return }
        }
    }

    /// Positions stay well below the refs of new nodes.
    private static let maximumSize = 1 << 46
}
