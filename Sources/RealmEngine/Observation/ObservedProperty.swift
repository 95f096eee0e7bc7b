// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// A property of one object.
package struct ObservedProperty: Sendable, Hashable {
    package let object: ObservedObject
    package let column: ColumnKey

    package init(_ object: ObservedObject, _ column: ColumnKey) {
        self.object = object
        self.column = column
    }
}
