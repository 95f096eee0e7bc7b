// SPDX-License-Identifier: Apache-2.0

internal import CProcessor
internal import RealmPlatform

/// A kernel that finds cells of sixteen bytes, in which short texts lie, that are equal to a constant.
struct CellKernel: MaskKernel {
    /// The constant in two words, whose first bytes are the lowest.
    private let words: (UInt64, UInt64)

    /// Makes a kernel that finds cells equal to two words, whose first byte is the lowest of the first word.
    @inline(__always) init(_ words: (UInt64, UInt64)) { self.words = words }

    /// The size of a cell in bytes.
    @inline(__always) static var elementByteCount: Int { 16 }

    /// Compares 64 cells, all readable, from `pointer` on; bit `i` is set where cell `i` equals the constant.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        // In bounds: 64 cells are 1024 bytes.
        unsafe realm_rest_find_cells(pointer.assumingMemoryBound(to: UInt8.self), words.0, words.1)
    }
}
