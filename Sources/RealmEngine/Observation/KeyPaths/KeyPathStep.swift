// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// One step of a key path, from an object of a class.
package enum KeyPathStep: Sendable, Hashable {
    /// A property of a table.
    case property(TableKey, ColumnKey)
    /// From an object of `target` to those of `origin` that link to it through a property.
    case linkingObjects(target: TableKey, origin: TableKey, ColumnKey)

    /// The table of the object at which the step begins.
    package var table: TableKey {
        switch self {
        case .property(let table, _): return table
        case .linkingObjects(let target, _, _): return target
        }
    }
}
