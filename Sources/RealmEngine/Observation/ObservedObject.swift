// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

package struct ObservedObject: Sendable, Hashable {
    package let table: TableKey
    package let key: ObjectKey

    package init(_ table: TableKey, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}
