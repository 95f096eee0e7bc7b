// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Where one value is, or is going to be.
///
/// A slot says where, a `SlotShape` says what may be there. Together they are enough to write a value, whether it is the value
/// of a property, an element of a list or an entry of a dictionary.
enum Slot {
    /// A property of an object.
    case property(ObjectPlace, Column)
    /// A list element at an index that exists.
    case element(CollectionPlace, Int)
    /// A list element that is put before the one at an index.
    case newElement(CollectionPlace, Int)
    /// A dictionary entry, there or not.
    case entry(CollectionPlace, String)

    /// The collection in this slot, if it is a Mixed one that holds a collection.
    var collection: CollectionPlace {
        switch self {
        case .property(let place, let column): return CollectionPlace(place.table, place.object, column)
        case .element(let place, let index), .newElement(let place, let index): return place.inside(.index(index))
        case .entry(let place, let key): return place.inside(.key(key))
        }
    }
}
