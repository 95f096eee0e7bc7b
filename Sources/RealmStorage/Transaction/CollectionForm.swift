// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The kind of a collection together with the type of its elements, which decide how it is stored.
///
/// Elements of collections nested in Mixed are Mixed, whatever the property is; sets cannot be nested.
package enum CollectionForm: Sendable {
    /// A list of elements of this type.
    case list(ElementShape)
    /// A set of elements of this type.
    case set(ElementShape)
    /// A dictionary with text keys and Mixed values.
    case dictionary

    /// The form of the collection that a column holds; nil for a column of single values.
    init?(_ column: Column) {
        switch column.collection {
        case .list: self = .list(column.elementShape)
        case .set: self = .set(column.elementShape)
        case .dictionary: self = .dictionary
        case nil: return nil
        }
    }

    /// The type of the values in the tree of the elements, or in the tree of the values of a dictionary.
    var elements: ElementShape {
        switch self {
        case .list(let shape), .set(let shape): return shape
        case .dictionary: return .mixed
        }
    }
}
