// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// An object by its keys.
package struct ObservedObject: Sendable, Hashable {
    /// Its class.
    package let table: TableKey
    /// Its key in the class.
    package let key: ObjectKey

    /// The object of a class with this key.
    package init(_ table: TableKey, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}
