// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The collection of objects that rows are selected from.
enum RowSource {
    case table(TableKey)
    /// The objects that a list, set or dictionary of links refers to.
    case collection(ObservedProperty)
    /// The objects that link to an object through a property of theirs.
    case linkingObjects(ObservedObject, origin: TableKey, ColumnKey)

    /// The object without which there are no rows; nil for a class.
    var root: ObservedObject? {
        switch self {
        case .table: return nil
        case .collection(let property): return property.object
        case .linkingObjects(let object, _, _): return object
        }
    }
}
