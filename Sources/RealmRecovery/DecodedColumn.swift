// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The values of a column of a leaf, and how sure they are.
struct DecodedColumn {
    let cells: [StoredCell]
    /// How sure the column is.
    let strength: LeafEvidence.Strength
    /// Values that have nodes of their own which nothing proves, by row: hints, not values.
    let possible: [Int: StoredValue]
}
