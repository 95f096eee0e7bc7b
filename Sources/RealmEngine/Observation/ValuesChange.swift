// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// The difference between two sequences of values.
package struct ValuesChange: Sendable {
    /// The positions in what is observed.
    package let changes: CollectionChanges
    /// Positions in the collection of the elements at `changes.insertions`: the same for the collection itself.
    package let insertedPlaces: [Int]
    /// Positions in the collection now of the elements at `changes.modificationsNew`.
    package let modifiedPlaces: [Int]
    /// How many elements there are now.
    package let count: Int
}
