// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf in its place: what tells whether two versions have the same rows.
struct LeafPlace: Hashable {
    /// The offset of the leaf in the file.
    private let ref: UInt64
    /// The key of the table.
    private let table: UInt32
    /// What the keys are counted from.
    private let offset: Int64
    /// Whether that is sure.
    private let isPlaced: Bool

    init(_ rows: LeafRows) { (ref, table, offset, isPlaced) = (rows.node.ref, rows.table.key, rows.offset, rows.isPlaced) }
}
