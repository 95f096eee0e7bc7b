// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parts of paths that are chosen by users: names of realms, classes and properties, keys of objects, and ids of leases.
package enum PathVariable: Int, Sendable, CaseIterable {
    /// The name of a realm, the name of a class, the key of an object, a property (or a path of
    /// properties), and the id of a transaction, snapshot, registration or write.
    case realm, `class`, key, property, id
    /// In the path of backlinks: the class whose objects link to the object, and its linking property.
    case originClass, originProperty
    /// The rest of a path, with its slashes. It is at the end of a pattern.
    case path

    /// The name of the variable in patterns and in the description of the interface; unique among all variables.
    package var name: String { String(describing: self) }

    /// The name of the variable in problems, in the log and in metrics, where it may coincide with that of another variable.
    package var label: String {
        switch self {
        case .originClass: return "Class"
        case .originProperty: return "property"
        default: return name
        }
    }
}
