// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The conversions between single values and collections, under the names that migrations use. The type of
/// the values remains.
enum CollectionConversion: String, CaseIterable {
    /// A list as the set of its elements. Elements that are equal to others count as lost data.
    case listToSet = "list-to-set"
    /// A set as the list of its members, in the order in which they are stored.
    case setToList = "set-to-list"
    /// A value as the list of this one element; null as an empty list.
    case singleToList = "single-to-list"
    /// A value as the set of this one member; null as an empty set.
    case singleToSet = "single-to-set"
    /// A list of at most one element as this element, or null. A longer list cannot be converted.
    case listToSingle = "list-to-single"
    /// A set of at most one member as this member, or null. A larger set cannot be converted.
    case setToSingle = "set-to-single"

    /// The kind of collection that is converted; nil for a single value.
    var source: CollectionKind? {
        switch self {
        case .listToSet, .listToSingle: return .list
        case .setToList, .setToSingle: return .set
        case .singleToList, .singleToSet: return nil
        }
    }

    /// The kind of collection that results; nil for a single value.
    var target: CollectionKind? {
        switch self {
        case .listToSet, .singleToSet: return .set
        case .setToList, .singleToList: return .list
        case .listToSingle, .setToSingle: return nil
        }
    }
}
