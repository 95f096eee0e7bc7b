// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Packed arrays of one element width with random elements, for `KernelBenchmarks`.
///
/// Each has one element more than it has rows, as nullable leaves have. All of them fit into the cache of the processor.
struct Leaves {
    /// The number of packed arrays, each with 256 rows.
    static let count = 64

    /// The memory of the arrays.
    private let buffers: [PackedBuffer]
    /// The arrays, which refer to `buffers`.
    private let leaves: [PackedIntegers]
    /// A constant that about half of the elements are greater than.
    private let middle: Int64
    /// The rows with an even number, for kernels that take a selection of rows.
    private let everyOther = Mask(words: SIMD4(repeating: 0x5555_5555_5555_5555))

    /// Makes the arrays.
    ///
    /// - Parameter widthCode: The code of the element width: the width is half of 2 to the
    ///   power of the code, in bits.
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

    /// Returns the number of rows that pass a test, over all arrays.
    ///
    /// - Parameter test: Returns the matching rows of an array, compared with a constant.
    func count(_ test: (PackedIntegers, Int64) -> Mask) -> Int {
        leaves.reduce(0) { $0 &+ test($1, middle).count }
    }

    /// Returns the number of rows that pass a test of each array with the one before it.
    ///
    /// - Parameter test: Returns the matching rows of two arrays.
    func countPairs(_ test: (PackedIntegers, PackedIntegers) -> Mask) -> Int {
        var previous = leaves[0]
        return leaves.reduce(0) { count, leaf in
            defer { previous = leaf }
            return count &+ test(leaf, previous).count
        }
    }

    /// Returns the sum of a result over all arrays.
    ///
    /// - Parameter fold: Returns the result for the given rows of an array.
    func total(_ fold: (PackedIntegers, Mask) -> Int64) -> Int {
        leaves.reduce(0) { $0 &+ Int(fold($1, everyOther)) }
    }
}
