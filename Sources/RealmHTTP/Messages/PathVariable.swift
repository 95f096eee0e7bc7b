// SPDX-License-Identifier: Apache-2.0

/// The variable segments of the paths of the interface.
package enum PathVariable: Int, Sendable, CaseIterable {
    case realm, `class`, key, property, id
    /// The class whose objects link to the one of the path, and its linking property.
    case originClass, originProperty

    /// The name that the API description and patterns give it.
    package var name: String { String(describing: self) }

    /// The name in problems, in the log and in metrics.
    package var label: String {
        switch self {
        case .originClass: return "Class"
        case .originProperty: return "property"
        default: return name
        }
    }
}
