// SPDX-License-Identifier: Apache-2.0

/// A collection of an object: that of a property, or one nested in a Mixed property.
package struct CollectionPlace: Sendable {
    package let table: TableKey
    package let object: ObjectKey
    package let column: Column
    /// From the collection of the property, or from the collection in a Mixed property, down to the one that is meant.
    package let path: [PathStep]

    package init(_ table: TableKey, _ object: ObjectKey, _ column: Column, path: [PathStep] = []) {
        self.table = table
        self.object = object
        self.column = column
        self.path = path
    }
}

/// One step into a collection.
package enum PathStep: Sendable, Hashable {
    case index(Int)
    case key(String)
}

/// How the elements of a collection are kept.
package enum CollectionForm: Sendable {
    case list(ElementShape)
    case set(ElementShape)
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
