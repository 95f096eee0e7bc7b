// SPDX-License-Identifier: Apache-2.0

/// Where the free lists and the top node of a new version lie, one after the other.
///
/// The lists describe the space that they take themselves: what follows them is free, and how much that is depends on
/// their widths, which depend on it. So the layout is repeated until it fits, and no width ever shrinks on the way;
/// otherwise a tail whose length is just above what a width can hold would make it swing for ever.
/// Source: docs/format.md, "Free space".
struct FreeListLayout {
    /// One block of the lists.
    struct Entry: Equatable {
        let position: Int
        let byteCount: Int
        /// 0 for what may be used at once.
        let version: UInt64
    }

    let start: Int
    /// All blocks, in order, the one after the top node included.
    private(set) var entries: [Entry] = []
    /// Width codes of positions, lengths, versions and top.
    private var codes: [Int]
    /// The slots of the top node before the free lists are known.
    private let top: [Int64]

    /// More than the four nodes take that describe `entryCount` blocks of a file of `logicalSize` bytes.
    static func reserve(entryCount: Int, topSlotCount: Int, logicalSize: Int, version: UInt64) -> Int {
        let place = IntegerForm.signed.widthCode(for: Int64(logicalSize))
        let number = IntegerForm.signed.widthCode(for: Int64(clamping: version))
        return 2 * size(place, entryCount) + size(number, entryCount) + size(7, topSlotCount) + 8
    }

    /// Lays the nodes at `start`, in a usable block that ends at `end` and has the room that `reserve` says.
    ///
    /// `rest` are all other free blocks; `top` the slots of the top node, with anything where the free lists go.
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

    var positions: Ref { Ref(UInt64(start)) }
    var lengths: Ref { Ref(UInt64(start + Self.size(codes[0], entries.count))) }
    var versions: Ref { Ref(lengths.rawValue + UInt64(Self.size(codes[1], entries.count))) }
    var topRef: Ref { Ref(versions.rawValue + UInt64(Self.size(codes[2], entries.count))) }
    /// Where the top node ends.
    var end: Int { Int(topRef.rawValue) + Self.size(codes[3], top.count) }

    /// The bytes of all four nodes.
    func write(to output: NodeOutput, logicalSize: Int) throws(StorageError) {
        try output.seek(to: start, logicalSize: logicalSize)
        output.append(integers: entries.map { Int64($0.position) }, flags: 0, widthCode: codes[0])
        output.append(integers: entries.map { Int64($0.byteCount) }, flags: 0, widthCode: codes[1])
        output.append(integers: entries.map { Int64(clamping: $0.version) }, flags: 0, widthCode: codes[2])
        output.append(integers: finishedTop, flags: 0x40, widthCode: codes[3])
    }

    /// The slots with the refs of the free lists.
    private var finishedTop: [Int64] {
        var slots = top
        for (slot, ref) in [(3, positions), (4, lengths), (5, versions)] { slots[slot] = Int64(bitPattern: ref.rawValue) }
        return slots
    }

    /// Widens the lists when the positions in them need it, which moves what follows them.
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

    /// The size of a list of so many elements.
    private static func size(_ widthCode: Int, _ count: Int) -> Int {
        NodeLayout.byteCount(flags: UInt8(widthCode), count: count)
    }

    /// Usable and locked blocks as one list, without the usable block `left` out.
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

    /// Adds the tail where it belongs; nothing else begins inside it.
    private static func inserting(_ tail: Entry, into entries: [Entry]) -> [Entry] {
        var result = entries
        let index = result.firstIndex { $0.position > tail.position } ?? result.count
        result.insert(tail, at: index)
        return result
    }
}

/// Entries of the free lists.
extension FreeListLayout.Entry {
    init(_ locked: FreeSpace.Locked) {
        self.init(position: locked.block.position, byteCount: locked.block.byteCount, version: locked.version)
    }
}
