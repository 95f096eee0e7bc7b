// SPDX-License-Identifier: Apache-2.0

/// Free blocks by size, so that the smallest one that holds a node is found without comparing all of them.
///
/// Sizes below 512 bytes have a class each; larger sizes share a class that covers an eighth of a
/// doubling. A block that space is taken from is out of the index until it is inserted again.
struct HoleIndex {
    /// The first block of every class; -1 where there is none.
    private var first = [Int32](repeating: -1, count: HoleIndex.classCount)
    /// The next block of the same class, by block; -1 for the last one.
    private var next: [Int32]

    /// Makes an index of `blocks`, which it refers to by their position in the array.
    init(_ blocks: [FreeBlock]) {
        next = [Int32](repeating: -1, count: blocks.count)
        // From the end, so that blocks at the front of the file are found first and its end may become free.
        for index in blocks.indices.reversed() where blocks[index].byteCount > 0 { insert(index, blocks[index].byteCount) }
    }

    /// Adds the block with index `index`, of which `byteCount` bytes are free.
    mutating func insert(_ index: Int, _ byteCount: Int) {
        guard byteCount > 0, index <= Int(Int32.max) else { return }
        while next.count <= index { next.append(-1) }
        let size = HoleIndex.sizeClass(byteCount)
        next[index] = first[size]
        first[size] = Int32(index)
    }

    /// Removes a block of at least `byteCount` bytes, one of the smallest there are, and returns
    /// its index; nil when there is none.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes that are needed.
    ///   - blocks: The blocks with their present sizes.
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
            // Space was taken from the block since it was inserted, so it belongs to a lower class.
            insert(index, blocks[index].byteCount)
        }
        return nil
    }

    /// Removes a block of the class of `byteCount` itself, in which not every block is large
    /// enough; nil when the first ones are too small.
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

    /// Removes the first block of a class and returns its index.
    private mutating func pop(_ size: Int) -> Int {
        let index = Int(first[size])
        first[size] = next[index]
        return index
    }

    /// The number of blocks of one class to compare before a larger class is used.
    private static let mostLooks = 16
    /// The size in bytes from which on several sizes share a class.
    private static let exactLimit = 512
    /// The number of classes: 64 of one size each, then 8 for every doubling.
    private static let classCount = 64 + 8 * 54

    static func sizeClass(_ byteCount: Int) -> Int {
        guard byteCount >= exactLimit else { return byteCount >> 3 }
        let doubling = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
        return 64 + (doubling - 9) * 8 + (byteCount >> (doubling - 3)) & 7
    }
}
