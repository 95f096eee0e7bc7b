// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// An object by its keys.
///
/// Good as long as the object is there, in this write and in later ones.
package struct ObjectPlace: Sendable, Hashable {
    /// Its class.
    package let table: TableKey
    /// Its key in the class.
    package let object: ObjectKey

    /// The object of a class with this key.
    package init(table: TableKey, object: ObjectKey) {
        self.table = table
        self.object = object
    }
}
