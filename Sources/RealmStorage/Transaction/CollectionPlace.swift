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
