// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Identifies an object by the key of its table and its own key.
///
/// It remains valid as long as the object exists, in this write and in later ones.
package struct ObjectPlace: Sendable, Hashable {
    package let table: TableKey
    /// The key of the object within its table.
    package let object: ObjectKey

    /// Makes the identification of an object; whether it exists is not checked.
    package init(table: TableKey, object: ObjectKey) {
        self.table = table
        self.object = object
    }
}
