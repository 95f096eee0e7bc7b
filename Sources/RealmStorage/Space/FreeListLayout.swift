// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The layout of the free lists and the top node of a new version, one after the other.
///
/// The lists describe the space that they take themselves: what follows them is free, and how much that is depends on their
/// widths, which depend on it. So the layout is repeated until it fits, and no width ever shrinks in the process; otherwise a
/// tail whose length is just above what a width can hold would make it alternate for ever. Source: docs/format.md, "Free
/// space".
struct FreeListLayout {
    /// Free blocks in ascending order, as the three lists describe them: column by column, because a file may have ten thousands of
    /// them and each version writes them all.
    struct Blocks: Equatable {
        /// The offsets of the blocks in the file.
        private(set) var positions: [Int64] = []
        /// The lengths of the blocks in bytes.
        private(set) var byteCounts: [Int64] = []
        /// The versions that released the blocks; 0 for a block that may be used at once.
        private(set) var versions: [Int64] = []

        /// How many blocks there are.
        var count: Int { positions.count }

        /// Makes room for a number of blocks.
        mutating func reserveCapacity(_ count: Int) {
            positions.reserveCapacity(count)
            byteCounts.reserveCapacity(count)
            versions.reserveCapacity(count)
        }

        /// Adds a block after all others.
        ///
        /// - Parameters:
        ///   - version: The version that released it; 0 when it may be used at once.
        mutating func append(_ block: FreeBlock, version: UInt64 = 0) {
            positions.append(Int64(block.position))
            byteCounts.append(Int64(block.byteCount))
            versions.append(Int64(clamping: version))
        }

        /// Inserts a block that may be used at once; no other block begins inside it.
        mutating func insert(_ block: FreeBlock) {
            let index = firstIndex(after: Int64(block.position))
            positions.insert(Int64(block.position), at: index)
            byteCounts.insert(Int64(block.byteCount), at: index)
            versions.insert(0, at: index)
        }

        /// The index of the first block that begins after a position.
        private func firstIndex(after position: Int64) -> Int {
            var low = 0
            var high = count
            while low < high {
                let middle = (low + high) / 2
                if positions[middle] > position { high = middle } else { low = middle + 1 }
            }
            return low
        }

        /// The codes of the least widths for the three lists.
        var codes: [Int] {
            [positions.last ?? 0, byteCounts.max() ?? 0, versions.max() ?? 0].map { IntegerForm.signed.widthCode(for: $0) }
        }
    }

    /// The offset of the first node, which is the list of positions.
    let start: Int
    /// All blocks in ascending order, the one after the top node included.
    private(set) var blocks: Blocks
    /// The width codes of the lists of positions, lengths and versions, and of the top node.
    private(set) var codes: [Int]
    /// How many blocks the lists have.
    private let count: Int
    /// The slots of the top node, with any values where the refs of the free lists go.
    private let top: [Int64]

    /// Returns a number of bytes that is enough for the three lists and the top node.
    ///
    /// - Parameters:
    ///   - entryCount: How many blocks the lists have.
    ///   - topSlotCount: How many slots the top node has.
    ///   - logicalSize: The logical size of the file in bytes.
    ///   - version: The greatest version in the lists.
    static func reserve(entryCount: Int, topSlotCount: Int, logicalSize: Int, version: UInt64) -> Int {
        let place = IntegerForm.signed.widthCode(for: Int64(logicalSize))
        let number = IntegerForm.signed.widthCode(for: Int64(clamping: version))
        return 2 * size(place, entryCount) + size(number, entryCount) + size(7, topSlotCount) + 8
    }

    /// Lays out the nodes from `start` on.
    ///
    /// - Parameters:
    ///   - start: The offset of a usable block.
    ///   - end: The end of that block, which has at least the room that `reserve` returned.
    ///   - top: The slots of the top node, with any values where the free lists go.
    init(start: Int, end: Int, rest: Blocks, top: [Int64]) {
        self.start = start
        self.top = top
        blocks = rest
        // The block after the top node is one more.
        count = rest.count + 1
        codes = rest.codes + [0]
        while true {
            let before = codes
            widen(for: end - self.end)
            if codes == before { break }
        }
        blocks.insert(FreeBlock(position: self.end, byteCount: end - self.end))
    }

    var positions: Ref { Ref(UInt64(start)) }
    var lengths: Ref { Ref(UInt64(start + Self.size(codes[0], count))) }
    var versions: Ref { Ref(lengths.rawValue + UInt64(Self.size(codes[1], count))) }
    /// The ref of the top node.
    var topRef: Ref { Ref(versions.rawValue + UInt64(Self.size(codes[2], count))) }
    /// The offset at which the top node ends and the remaining free block begins.
    var end: Int { Int(topRef.rawValue) + Self.size(codes[3], top.count) }

    /// Writes all four nodes.
    ///
    /// - Parameters:
    ///   - output: Writes to the file.
    ///   - logicalSize: The logical size of the file in bytes.
    func write(to output: NodeOutput, logicalSize: Int) throws(StorageError) {
        try output.seek(to: start, logicalSize: logicalSize)
        output.append(integers: blocks.positions, flags: 0, widthCode: codes[0])
        output.append(integers: blocks.byteCounts, flags: 0, widthCode: codes[1])
        output.append(integers: blocks.versions, flags: 0, widthCode: codes[2])
        output.append(integers: finishedTop, flags: 0x40, widthCode: codes[3])
    }

    /// The slots of the top node with the refs of the free lists.
    private var finishedTop: [Int64] {
        var slots = top
        for (slot, ref) in [(3, positions), (4, lengths), (5, versions)] { slots[slot] = Int64(bitPattern: ref.rawValue) }
        return slots
    }

    /// Widens the nodes whose elements need it, which moves the nodes that follow.
    ///
    /// - Parameter tail: How many bytes are left after the top node, where it is now.
    private mutating func widen(for tail: Int) {
        precondition(tail > 0, "the block for the free lists is too small")
        let form = IntegerForm.signed
        codes[0] = max(codes[0], form.widthCode(for: Int64(end)))
        codes[1] = max(codes[1], form.widthCode(for: Int64(tail)))
        for slot in finishedTop { codes[3] = max(codes[3], form.widthCode(for: slot)) }
    }

    /// Returns the size in bytes of a node of `count` elements.
    private static func size(_ widthCode: Int, _ count: Int) -> Int {
        NodeLayout.byteCount(flags: UInt8(widthCode), count: count)
    }

    /// Returns usable and locked blocks as one ascending list, without the usable block of index `left`.
    static func blocks(of free: FreeSpace, leavingOut left: Int? = nil) -> Blocks {
        var result = Blocks()
        result.reserveCapacity(free.usable.count + free.locked.count + 1)
        var index = 0
        for (number, block) in free.usable.enumerated() where block.byteCount > 0 && number != left {
            while index < free.locked.count, free.locked[index].block.position < block.position {
                result.append(free.locked[index].block, version: free.locked[index].version)
                index += 1
            }
            result.append(block)
        }
        for locked in free.locked[index...] { result.append(locked.block, version: locked.version) }
        return result
    }
}
