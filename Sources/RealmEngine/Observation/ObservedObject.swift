// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// Identifies an observed object by its keys.
package struct ObservedObject: Sendable, Hashable {
    /// The table of its class.
    package let table: TableKey
    /// Its key within the table.
    package let key: ObjectKey

    /// Makes the identification of an object; whether it exists is not checked.
    package init(_ table: TableKey, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}
