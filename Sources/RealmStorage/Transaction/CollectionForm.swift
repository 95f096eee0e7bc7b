// SPDX-License-Identifier: Apache-2.0

/// How the elements of a collection are kept.
///
/// Elements of collections nested in Mixed are Mixed, whatever the property is; sets cannot be nested.
package enum CollectionForm: Sendable {
    /// A list of such elements.
    case list(ElementShape)
    /// A set of such elements.
    case set(ElementShape)
    /// A dictionary with text keys and Mixed values.
    case dictionary

    /// The collection of a property; nil for a property without.
    init?(_ column: Column) {
        switch column.collection {
        case .list: self = .list(column.elementShape)
        case .set: self = .set(column.elementShape)
        case .dictionary: self = .dictionary
        case nil: return nil
        }
    }

    /// The shape of the tree that holds the elements, or the values of a dictionary.
    var elements: ElementShape {
        switch self {
        case .list(let shape), .set(let shape): return shape
        case .dictionary: return .mixed
        }
    }
}
