// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Free space")
struct FreeSpaceTests {
    private static let section = FreeSpace.sectionByteCount

    @Test(arguments: [
        (24, 8, 16384), (16384, 8, 32768), (24_800, 8, 65536), (1 << 20, 8, 2 << 20), (5 << 20, 8, 6 << 20),
        (32768, 100_000, 147_456), (1 << 20, 9_000_000, 10_059_776),
    ])
    func `the file doubles below 1 MiB, grows by 1 MiB above, and always by what is needed`(size: Int, needed: Int, grown: Int) {
        #expect(FreeSpace.grownSize(from: size, needed: needed) == grown)
    }

    @Test func `a block becomes usable when its version is the oldest that is read, and not before`() {
        var free = FreeSpace(
            usable: [FreeBlock(position: 24, byteCount: 8)],
            locked: [
                .init(block: FreeBlock(position: 32, byteCount: 16), version: 5),
                .init(block: FreeBlock(position: 64, byteCount: 16), version: 7),
                .init(block: FreeBlock(position: 80, byteCount: 16), version: 6),
            ], logicalSize: 4096)
        free.release(upTo: 4)
        #expect(free.usable.count == 1 && free.locked.count == 3)
        free.release(upTo: 6)
        #expect(free.usable == [FreeBlock(position: 24, byteCount: 24), FreeBlock(position: 80, byteCount: 16)])
        #expect(free.locked.map(\.version) == [7])
        free.release(upTo: 7)
        #expect(free.usable == [FreeBlock(position: 24, byteCount: 24), FreeBlock(position: 64, byteCount: 32)])
    }

    @Test func `usable blocks end where a section ends`() {
        var blocks: [FreeBlock] = []
        FreeSpace.append(FreeBlock(position: Self.section - 64, byteCount: Self.section + 128), to: &blocks)
        FreeSpace.append(FreeBlock(position: 2 * Self.section + 64, byteCount: 8), to: &blocks)
        #expect(
            blocks == [
                FreeBlock(position: Self.section - 64, byteCount: 64), FreeBlock(position: Self.section, byteCount: Self.section),
                FreeBlock(position: 2 * Self.section, byteCount: 72),
            ])
    }

    @Test func `a node that is given up twice, or was free already, is damage`() throws {
        let block = FreeBlock(position: 64, byteCount: 32)
        #expect(throws: StorageError.self) { try FreeSpace.joined([block, block]) }
        #expect(throws: StorageError.self) { try FreeSpace.joined([block, FreeBlock(position: 88, byteCount: 16)]) }
        #expect(try FreeSpace.joined([FreeBlock(position: 96, byteCount: 8), block]) == [FreeBlock(position: 64, byteCount: 40)])
        let free = FreeSpace(
            usable: [FreeBlock(position: 200, byteCount: 40)],
            locked: [.init(block: FreeBlock(position: 400, byteCount: 8), version: 3)], logicalSize: 1000)
        try free.requireInUse([FreeBlock(position: 160, byteCount: 40), FreeBlock(position: 240, byteCount: 160)])
        for (position, byteCount) in [(192, 16), (232, 8), (392, 16), (400, 8), (992, 16), (16, 8), (160, 400)] {
            #expect(throws: StorageError.self, "\(position)") {
                try free.requireInUse([FreeBlock(position: position, byteCount: byteCount)])
            }
        }
    }

    @Test func `allocation uses the smallest block that holds everything, then blocks from the front, then grows`() throws {
        let blocks = [(1000, 400), (2000, 3000), (6000, 1600), (8000, 2000)].map { FreeBlock(position: $0, byteCount: $1) }
        let free = FreeSpace(usable: blocks, logicalSize: 10_000)
        var whole = SpaceAllocator(free, expected: 1200)
        #expect(try whole.allocate(800) == 6000)
        #expect(try whole.allocate(400) == 6800)
        #expect(try whole.allocate(800) == 8000, "what was not expected goes to the next block that holds it")
        var nodes = SpaceAllocator(free, expected: 1200, atEnd: 600)
        #expect(try nodes.allocate(1200) == 8000, "the smallest with room for the lists")
        var apart = SpaceAllocator(free, expected: 1600, atEnd: 1600)
        #expect(try apart.allocate(1600) == 6000, "nodes and lists go to blocks of their own")
        #expect(try apart.block(with: 1600) == 3)
        var parts = SpaceAllocator(free, expected: 5000)
        #expect(try parts.allocate(2800) == 2000)
        #expect(try parts.allocate(1600) == 6000)
        #expect(try parts.allocate(1800) == 8000)
        #expect(try parts.allocate(1600) == 9800, "what is left at the end of the file joins what is new")
        #expect(parts.finish().logicalSize == 32768)
    }

    @Test(arguments: 0..<40)
    func `nothing that is handed out crosses a section, overlaps or gets lost`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let start = FreeSpace(
            usable: Self.blocks(Int.random(in: 0...60, using: &random), using: &random), logicalSize: 140 << 20)
        var allocator = SpaceAllocator(start, expected: Int.random(in: 0...(40 << 20), using: &random))
        var used: [FreeBlock] = []
        for _ in 0..<60 {
            let size = max(8, Int.random(in: 8...(60 << 20), using: &random) >> Int.random(in: 0..<20, using: &random) & ~7)
            used.append(FreeBlock(position: try allocator.allocate(size), byteCount: size))
        }
        for block in used {
            #expect(block.position / Self.section == (block.end - 1) / Self.section, "seed \(seed): \(block) crosses")
        }
        let end = allocator.finish()
        let all = (used + end.usable).sorted { $0.position < $1.position }
        for (left, right) in zip(all, all.dropFirst()) { #expect(left.end <= right.position, "seed \(seed)") }
        let before = start.usableByteCount + end.logicalSize - start.logicalSize
        #expect(all.reduce(0) { $0 + $1.byteCount } == before, "seed \(seed)")
    }

    @Test func `a file with much more free than used space is not lengthened while any piece holds the node`() throws {
        // 3 MiB of pieces of 4 KiB beside as many bytes in use.
        let pieces = (0..<768).map { FreeBlock(position: 24 + $0 * 5000, byteCount: 4096) }
        let free = FreeSpace(usable: pieces, logicalSize: 768 * 5000 + 24)
        #expect(free.isWasteful)
        var allocator = SpaceAllocator(free, expected: 2 << 20)
        var taken = 0
        while taken < 300 * 4096 {
            let size = [8, 48, 1024, 2000, 4096][taken / 8 % 5]
            _ = try allocator.allocate(size)
            taken += size
        }
        #expect(allocator.free.logicalSize == free.logicalSize)
        #expect(try allocator.block(with: 100_000) >= 768, "the lists are in one piece, for which the file grows")
    }

    @Test(arguments: 0..<40)
    func `the index of pieces finds one that fits whenever there is one`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var blocks = (0..<Int.random(in: 1...200, using: &random)).map {
            FreeBlock(
                position: $0 << 20,
                byteCount: max(8, (1 << Int.random(in: 3...19, using: &random)) + Int.random(in: -64...64, using: &random) * 8))
        }
        var index = HoleIndex(blocks)
        for _ in 0..<500 {
            let wanted = max(8, (1 << Int.random(in: 3...19, using: &random)) + Int.random(in: -64...64, using: &random) * 8)
            let fitting = blocks.filter { $0.byteCount >= wanted }
            guard let found = index.take(wanted, from: blocks) else {
                // Only so many pieces of one class are looked at; none above may be missed.
                #expect(fitting.allSatisfy { HoleIndex.sizeClass($0.byteCount) == HoleIndex.sizeClass(wanted) }, "seed \(seed)")
                continue
            }
            #expect(blocks[found].byteCount >= wanted, "seed \(seed)")
            blocks[found].position += wanted
            blocks[found].byteCount -= wanted
            index.insert(found, blocks[found].byteCount)
        }
    }

    private static func blocks(_ count: Int, using random: inout SeededGenerator) -> [FreeBlock] {
        var blocks: [FreeBlock] = []
        var position = 24
        for _ in 0..<count {
            position += Int.random(in: 1...100_000, using: &random) * 8
            let size = Int.random(in: 1...200_000, using: &random) * 8
            FreeSpace.append(FreeBlock(position: position, byteCount: size), to: &blocks)
            position += size
        }
        return blocks
    }
}

@Suite("Layout of free lists")
struct FreeListLayoutTests {
    /// Room for `count` other blocks in a file that may be 4 GiB long: more than the lists ask for.
    private static func reserve(_ count: Int, _ start: Int) -> Int {
        FreeListLayout.reserve(entryCount: count + 2, topSlotCount: 11, logicalSize: start + 1 << 32, version: 1)
    }

    /// A layout with `count` other blocks of 8 bytes.
    private func layout(_ count: Int, start: Int, room: Int? = nil) -> FreeListLayout {
        var rest = FreeListLayout.Blocks()
        for number in 0..<count { rest.append(FreeBlock(position: 24 + 16 * number, byteCount: 8)) }
        let reserve = room ?? Self.reserve(count, start)
        return FreeListLayout(start: start, end: start + reserve, rest: rest, top: Array(repeating: 1, count: 11))
    }

    /// With 2054 blocks a length node of 16-bit elements leaves a tail that needs 32 bits, and one of 32-bit elements a
    /// tail that fits 16: without a rule the two take turns for ever.
    @Test func `a tail that swings between two widths settles on the wider one`() {
        let layout = layout(2054, start: 40_000)
        check(layout, "2054")
    }

    @Test(arguments: 0..<200)
    func `every number of blocks near a limit of some width gives a layout that fits`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let count = seed < 40 ? seed : Int.random(in: 0...6000, using: &random)
        let start = 24 + 16 * count + Int.random(in: 0...100_000, using: &random) * 8
        check(layout(count, start: start), "seed \(seed)")
        for delta in -4...4 {
            let limit = [128, 32768, 1 << 31].randomElement(using: &random) ?? 128
            let plain = Self.reserve(count, start)
            check(layout(count, start: start, room: plain + limit + 8 * delta), "seed \(seed), \(delta)")
        }
    }

    private func check(_ layout: FreeListLayout, _ what: String) {
        let tail = layout.blocks.positions.firstIndex(of: Int64(layout.end))
        #expect(tail.map { layout.blocks.byteCounts[$0] > 0 } == true, "\(what)")
        #expect(layout.blocks.positions == layout.blocks.positions.sorted(), "\(what)")
        // The nodes are as wide as what they hold needs.
        #expect(zip(layout.blocks.codes, layout.codes).allSatisfy { $0 <= $1 }, "\(what)")
        let refs = [layout.positions, layout.lengths, layout.versions, layout.topRef].map { Int($0.rawValue) }
        #expect(refs == refs.sorted() && refs.first == layout.start && layout.end > refs[3], "\(what)")
    }
}
