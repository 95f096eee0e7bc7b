// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The place where one value is stored or will be stored.
///
/// Indexes count the stored elements, including hidden ones (`storedIndex(of:in:)`). A slot describes where, and a `SlotShape`
/// which values are accepted there. Together they are all that is needed to write a value, whether it is that of a property, an
/// element of a list or an entry of a dictionary.
enum Slot {
    case property(ObjectPlace, Column)
    /// An existing element of a list, by its index.
    case element(CollectionPlace, Int)
    /// A new element of a list, which is inserted before the one at the index.
    case newElement(CollectionPlace, Int)
    /// An entry of a dictionary, whether the key exists or not.
    case entry(CollectionPlace, String)

    /// The collection that this slot contains, if it is a mixed slot with a list or dictionary as its value.
    var collection: CollectionPlace {
        switch self {
        case .property(let place, let column): return CollectionPlace(place.table, place.object, column)
        case .element(let place, let index), .newElement(let place, let index): return place.inside(.index(index))
        case .entry(let place, let key): return place.inside(.key(key))
        }
    }
}
