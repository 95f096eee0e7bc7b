// SPDX-License-Identifier: Apache-2.0

/// The layout of the free lists and the top node of a new version, one after the other.
///
/// The lists describe the space that they take themselves: what follows them is free, and how much
/// that is depends on their widths, which depend on it. So the layout is repeated until it fits,
/// and no width ever shrinks in the process; otherwise a tail whose length is just above what a
/// width can hold would make it alternate for ever.
/// Source: docs/format.md, "Free space".
struct FreeListLayout {
    /// One free block, as the three lists describe it.
    struct Entry: Equatable {
        /// The offset of the block in the file.
        let position: Int
        /// The length of the block in bytes.
        let byteCount: Int
        /// The version that released the block; 0 for a block that may be used at once.
        let version: UInt64
    }

    /// The offset of the first node, which is the list of positions.
    let start: Int
    /// All blocks in ascending order, the one after the top node included.
    private(set) var entries: [Entry] = []
    /// The width codes of the lists of positions, lengths and versions, and of the top node.
    private var codes: [Int]
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
    ///   - rest: All other free blocks.
    ///   - top: The slots of the top node, with any values where the free lists go.
    init(start: Int, end: Int, rest: [Entry], top: [Int64]) {
        self.start = start
        self.top = top
        codes = [0, 0, 0, 0]
        while true {
            let before = codes
            let tail = Entry(position: self.end, byteCount: end - self.end, version: 0)
            precondition(tail.byteCount > 0, "the block for the free lists is too small")
            entries = FreeListLayout.inserting(tail, into: rest)
            widen()
            if codes == before { return }
        }
    }

    /// The ref of the list of positions.
    var positions: Ref { Ref(UInt64(start)) }
    /// The ref of the list of lengths.
    var lengths: Ref { Ref(UInt64(start + Self.size(codes[0], entries.count))) }
    /// The ref of the list of versions.
    var versions: Ref { Ref(lengths.rawValue + UInt64(Self.size(codes[1], entries.count))) }
    /// The ref of the top node.
    var topRef: Ref { Ref(versions.rawValue + UInt64(Self.size(codes[2], entries.count))) }
    /// The offset at which the top node ends and the remaining free block begins.
    var end: Int { Int(topRef.rawValue) + Self.size(codes[3], top.count) }

    /// Writes all four nodes.
    ///
    /// - Parameters:
    ///   - output: Writes to the file.
    ///   - logicalSize: The logical size of the file in bytes.
    func write(to output: NodeOutput, logicalSize: Int) throws(StorageError) {
        try output.seek(to: start, logicalSize: logicalSize)
        output.append(integers: entries.map { Int64($0.position) }, flags: 0, widthCode: codes[0])
        output.append(integers: entries.map { Int64($0.byteCount) }, flags: 0, widthCode: codes[1])
        output.append(integers: entries.map { Int64(clamping: $0.version) }, flags: 0, widthCode: codes[2])
        output.append(integers: finishedTop, flags: 0x40, widthCode: codes[3])
    }

    /// The slots of the top node with the refs of the free lists.
    private var finishedTop: [Int64] {
        var slots = top
        for (slot, ref) in [(3, positions), (4, lengths), (5, versions)] { slots[slot] = Int64(bitPattern: ref.rawValue) }
        return slots
    }

    /// Widens the nodes whose elements need it, which moves the nodes that follow.
    private mutating func widen() {
        let form = IntegerForm.signed
        let last = entries.last
        codes[0] = max(codes[0], form.widthCode(for: Int64(last?.position ?? 0)))
        for entry in entries {
            codes[1] = max(codes[1], form.widthCode(for: Int64(entry.byteCount)))
            codes[2] = max(codes[2], form.widthCode(for: Int64(clamping: entry.version)))
        }
        for slot in finishedTop { codes[3] = max(codes[3], form.widthCode(for: slot)) }
    }

    /// Returns the size in bytes of a node of `count` elements.
    private static func size(_ widthCode: Int, _ count: Int) -> Int {
        NodeLayout.byteCount(flags: UInt8(widthCode), count: count)
    }

    /// Returns usable and locked blocks as one ascending list, without the usable block of index
    /// `left`.
    static func entries(of free: FreeSpace, leavingOut left: Int? = nil) -> [Entry] {
        var result: [Entry] = []
        result.reserveCapacity(free.usable.count + free.locked.count + 1)
        var index = 0
        for (number, block) in free.usable.enumerated() where block.byteCount > 0 && number != left {
            while index < free.locked.count, free.locked[index].block.position < block.position {
                result.append(Entry(free.locked[index]))
                index += 1
            }
            result.append(Entry(position: block.position, byteCount: block.byteCount, version: 0))
        }
        result += free.locked[index...].map(Entry.init)
        return result
    }

    /// Returns the blocks with the tail inserted in order of position; no other block begins inside
    /// it.
    private static func inserting(_ tail: Entry, into entries: [Entry]) -> [Entry] {
        var result = entries
        let index = result.firstIndex { $0.position > tail.position } ?? result.count
        result.insert(tail, at: index)
        return result
    }
}

/// Entries of the free lists.
extension FreeListLayout.Entry {
    /// Makes an entry of a block that is locked by a version.
    init(_ locked: FreeSpace.Locked) {
        self.init(position: locked.block.position, byteCount: locked.block.byteCount, version: locked.version)
    }
}
