// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// What rows come from, before they are selected.
enum RowSource {
    /// All objects of a class.
    case table(TableKey)
    /// The objects that a list, set or dictionary of links holds.
    case collection(ObservedProperty)
    /// The objects that link to one through a property.
    case linkingObjects(ObservedObject, origin: TableKey, ColumnKey)

    /// The object without which there are no rows.
    var root: ObservedObject? {
        switch self {
        case .table: return nil
        case .collection(let property): return property.object
        case .linkingObjects(let object, _, _): return object
        }
    }
}
