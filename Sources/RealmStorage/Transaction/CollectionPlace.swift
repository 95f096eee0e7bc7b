// SPDX-License-Identifier: Apache-2.0

/// A collection of an object: that of a property, or one nested in a Mixed property.
///
/// Names a collection by where it is rather than by its root, because the root changes with every change of the collection, and
/// so do those above it.
package struct CollectionPlace: Sendable {
    /// The table of the object.
    package let table: TableKey
    /// The object that holds the collection, in a property or below it.
    package let object: ObjectKey
    /// The property.
    package let column: Column
    /// From the collection of the property, or from the collection in a Mixed property, down to the one that is meant.
    package let path: [PathStep]

    /// A collection by its place; `path` leads from the property's value down.
    package init(_ table: TableKey, _ object: ObjectKey, _ column: Column, path: [PathStep] = []) {
        self.table = table
        self.object = object
        self.column = column
        self.path = path
    }
}
