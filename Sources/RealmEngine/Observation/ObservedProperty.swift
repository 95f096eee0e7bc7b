// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Identifies a property of one object.
package struct ObservedProperty: Sendable, Hashable {
    package let object: ObservedObject
    /// The key of the property's column in the table of the object.
    package let column: ColumnKey

    /// Makes the identification of a property.
    package init(_ object: ObservedObject, _ column: ColumnKey) {
        self.object = object
        self.column = column
    }
}
