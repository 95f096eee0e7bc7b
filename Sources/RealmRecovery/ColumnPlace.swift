// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A column of a leaf.
struct ColumnPlace: Hashable {
    /// The offset of the leaf.
    let leaf: UInt64
    /// The index of the column in the leaf.
    let index: Int
}
