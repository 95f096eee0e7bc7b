// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The largest values that were met so far, by falling size.
package struct LargestValues: Sendable {
    /// The most values that are kept.
    package static let limit = 20

    /// A value, or a collection with its contents.
    package struct Value: Sendable {
        package let table: String
        package let property: String
        /// The key of the object; in formats 2 to 9 the number of its row.
        package let objectKey: ObjectKey
        /// The primary key of the object; nil for a class without one, and where it is long or cannot be read.
        package let primaryKey: DetachedValue?
        package let bytes: UInt64
    }

    struct Place {
        /// The positions of the table and of its property in the walk.
        let table: Int, property: Int
        let key: ObjectKey
        /// The leaf that has the object, and its row there; nil in formats 2 to 9.
        let leaf: Ref?
        let row: Int
        let bytes: UInt64
    }

    private(set) var places: [Place] = []

    /// Whether a value of a size is among the largest so far.
    @inline(__always) func takes(_ bytes: UInt64) -> Bool {
        bytes > 0 && (places.count < LargestValues.limit || bytes > places[LargestValues.limit - 1].bytes)
    }

    /// Adds a value, which comes behind those of the same size.
    mutating func add(_ place: Place) {
        let index = places.firstIndex { $0.bytes < place.bytes } ?? places.count
        places.insert(place, at: index)
        if places.count > LargestValues.limit { places.removeLast() }
    }
}
