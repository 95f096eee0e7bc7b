// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Identifies an observed object by its keys.
package struct ObservedObject: Sendable, Hashable {
    /// The key of the table that contains the object.
    package let table: TableKey
    /// The key of the object within its table.
    package let key: ObjectKey

    /// Makes the identification of an object; whether it exists is not checked.
    package init(_ table: TableKey, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}
