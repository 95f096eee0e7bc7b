// SPDX-License-Identifier: Apache-2.0

/// Free blocks by size, so that the smallest one that holds a node is found without looking at all of them.
///
/// Sizes below 512 bytes have a class each, larger ones share an eighth of a doubling with their like. A block that is
/// taken from is out of the index until it is put back.
struct HoleIndex {
    /// The first block of every class, and after each block the next of its class; -1 where there is none.
    private var first = [Int32](repeating: -1, count: HoleIndex.classCount)
    /// The next block of the same class, by block.
    private var next: [Int32]

    /// An index of `blocks` by size and position.
    init(_ blocks: [FreeBlock]) {
        next = [Int32](repeating: -1, count: blocks.count)
        // From the end, so that blocks at the front of the file are found first and its end may become free.
        for index in blocks.indices.reversed() where blocks[index].byteCount > 0 { insert(index, blocks[index].byteCount) }
    }

    /// Adds the block with this index, of which `byteCount` bytes are free.
    mutating func insert(_ index: Int, _ byteCount: Int) {
        guard byteCount > 0, index <= Int(Int32.max) else { return }
        while next.count <= index { next.append(-1) }
        let size = HoleIndex.sizeClass(byteCount)
        next[index] = first[size]
        first[size] = Int32(index)
    }

    /// Takes out a block of at least `byteCount` bytes, one of the smallest there are.
    mutating func take(_ byteCount: Int, from blocks: [FreeBlock]) -> Int? {
        var size = HoleIndex.sizeClass(byteCount)
        if let found = takeFitting(byteCount, size, blocks) { return found }
        size += 1
        while size < HoleIndex.classCount {
            guard first[size] >= 0 else {
                size += 1
                continue
            }
            let index = pop(size)
            if blocks[index].byteCount >= byteCount { return index }
            // It was taken from since: it belongs into a lower class now.
            insert(index, blocks[index].byteCount)
        }
        return nil
    }

    /// A block of the class that `byteCount` itself belongs to, where not every block is large enough.
    private mutating func takeFitting(_ byteCount: Int, _ size: Int, _ blocks: [FreeBlock]) -> Int? {
        var before: Int32 = -1
        var index = first[size]
        var looks = HoleIndex.mostLooks
        while index >= 0, looks > 0 {
            if blocks[Int(index)].byteCount >= byteCount {
                guard before >= 0 else { return pop(size) }
                next[Int(before)] = next[Int(index)]
                return Int(index)
            }
            before = index
            index = next[Int(index)]
            looks -= 1
        }
        return nil
    }

    /// Takes the first block of a class.
    private mutating func pop(_ size: Int) -> Int {
        let index = Int(first[size])
        first[size] = next[index]
        return index
    }

    /// How many blocks of one class are looked at before a larger one is taken.
    private static let mostLooks = 16
    /// Up to here blocks of one size have a class of their own.
    private static let exactLimit = 512
    /// 64 exact classes, then 8 for every doubling.
    private static let classCount = 64 + 8 * 54

    /// The class of sizes that a block belongs to; small sizes have a class each.
    static func sizeClass(_ byteCount: Int) -> Int {
        guard byteCount >= exactLimit else { return byteCount >> 3 }
        let doubling = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
        return 64 + (doubling - 9) * 8 + (byteCount >> (doubling - 3)) & 7
    }
}
