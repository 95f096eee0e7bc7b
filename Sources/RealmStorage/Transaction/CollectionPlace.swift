// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The place of a collection of an object: that of a property, or one nested in a Mixed property.
///
/// It names a collection by where it is rather than by its root, because the root changes with
/// every change of the collection, and so do the roots of the collections around it.
package struct CollectionPlace: Sendable {
    /// The table of the object that holds the collection.
    package let table: TableKey
    /// The object that holds the collection, in a property or below it.
    package let object: ObjectKey
    /// The property that holds the collection, or the collections around it.
    package let column: Column
    /// The steps from the collection of the property, or from the collection in a Mixed property,
    /// down to the one that is meant; empty for the outermost one.
    package let path: [PathStep]

    /// Makes a place.
    ///
    /// - Parameters:
    ///   - path: The steps from the property's collection down to a nested one.
    package init(_ table: TableKey, _ object: ObjectKey, _ column: Column, path: [PathStep] = []) {
        self.table = table
        self.object = object
        self.column = column
        self.path = path
    }
}
