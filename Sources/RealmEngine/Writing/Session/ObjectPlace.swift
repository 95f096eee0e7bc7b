// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// An object by its keys.
package struct ObjectPlace: Sendable, Hashable {
    package let table: TableKey
    package let object: ObjectKey

    package init(table: TableKey, object: ObjectKey) {
        self.table = table
        self.object = object
    }
}
