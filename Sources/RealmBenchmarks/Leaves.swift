// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Packed leaves of one width with random elements; each has one element more than rows, as nullable leaves have.
struct Leaves {
    static let count = 64

    private let buffers: [PackedBuffer]
    private let leaves: [PackedIntegers]
    private let middle: Int64
    private let everyOther = Mask(words: SIMD4(repeating: 0x5555_5555_5555_5555))

    init(widthCode: Int) throws {
        let width = (1 << widthCode) >> 1
        var random = SplitMix(7)
        buffers = try (0..<Leaves.count).map { _ in
            let elements = (0...256).map { _ in Int64(bitPattern: random.next()) >> Int64(64 - width) }
            return try PackedBuffer(elements, widthCode: widthCode)
        }
        leaves = buffers.map(\.integers)
        middle = width < 8 ? Int64(1 << width) / 2 - 1 : 0
    }

    func count(_ test: (PackedIntegers, Int64) -> Mask) -> Int {
        leaves.reduce(0) { $0 &+ test($1, middle).count }
    }

    func countPairs(_ test: (PackedIntegers, PackedIntegers) -> Mask) -> Int {
        var previous = leaves[0]
        return leaves.reduce(0) { count, leaf in
            defer { previous = leaf }
            return count &+ test(leaf, previous).count
        }
    }

    func total(_ fold: (PackedIntegers, Mask) -> Int64) -> Int {
        leaves.reduce(0) { $0 &+ Int(fold($1, everyOther)) }
    }
}
