// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf in its place, to compare the rows of two versions.
struct LeafPlace: Hashable {
    /// The offset of the leaf in the file.
    private let ref: UInt64
    /// The key of the table.
    private let table: UInt32
    /// The base of the keys.
    private let offset: Int64
    /// Whether that is sure.
    private let isPlaced: Bool

    init(_ rows: LeafRows) { (ref, table, offset, isPlaced) = (rows.node.ref, rows.table.key, rows.offset, rows.isPlaced) }
}

extension LeafPlace {
    /// A set of numbers of rows that leaves can have, 0 to 256.
    struct Sizes: Equatable {
        /// One bit for each number.
        private var words: SIMD8<UInt64> = .zero

        /// Adds a number.
        mutating func insert(_ size: Int) {
            guard (0...256).contains(size) else { return }
            words[size >> 6] |= 1 << UInt64(size & 63)
        }

        /// Adds the numbers of another set.
        mutating func formUnion(_ other: Sizes) { words |= other.words }

        func contains(_ size: Int) -> Bool { (0...256).contains(size) && words[size >> 6] >> UInt64(size & 63) & 1 == 1 }
    }
}
