// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// One step of a key path, which starts at an object of a class.
package enum KeyPathStep: Sendable, Hashable {
    case property(TableKey, ColumnKey)
    /// The step from an object of `target` to the objects of `origin` that link to it through a property.
    case linkingObjects(target: TableKey, origin: TableKey, ColumnKey)

    /// The table of the object at which the step starts.
    package var table: TableKey {
        switch self {
        case .property(let table, _): return table
        case .linkingObjects(let target, _, _): return target
        }
    }
}
