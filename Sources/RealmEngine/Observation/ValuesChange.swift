// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The difference between two sequences of values, given by positions; the values are read from the new
/// version.
package struct ValuesChange: Sendable {
    /// The positions in the observed sequence.
    package let changes: CollectionChanges
    /// The positions in the collection of the values at `changes.insertions`; the same positions for a
    /// whole collection.
    package let insertedPlaces: [Int]
    /// The positions in the collection of the values at `changes.modificationsNew`, after the change.
    package let modifiedPlaces: [Int]
    /// The number of values after the change.
    package let count: Int
}
