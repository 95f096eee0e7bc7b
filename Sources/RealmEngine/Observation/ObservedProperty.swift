// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// A property of one object.
package struct ObservedProperty: Sendable, Hashable {
    /// The object.
    package let object: ObservedObject
    /// The property.
    package let column: ColumnKey

    /// A property of an object.
    package init(_ object: ObservedObject, _ column: ColumnKey) {
        self.object = object
        self.column = column
    }
}
