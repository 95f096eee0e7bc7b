// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

package enum MigrationStep: Sendable {
    case addClass(ClassInput)
    case removeClass(name: String)
    case renameClass(name: String, to: String)
    /// `value` is what existing objects get.
    case addProperty(className: String, PropertyInput, value: InputValue?)
    case removeProperty(className: String, name: String)
    case renameProperty(className: String, name: String, to: String)
    /// What is nil stays. `conversion` is a name of `ValueConversion`; `nullValue` replaces nulls.
    case changeProperty(
        className: String, name: String, optional: Bool?, type: String?, conversion: String?, nullValue: InputValue?)
    /// Nil clears.
    case setPrimaryKey(className: String, name: String?)
    case setIndex(className: String, name: String, indexed: String?)
    case setType(className: String, type: String)
    /// Merges values into matches; entries may be expressions over the values before.
    case set(MigrationMatch, values: InputObject)
    case create(className: String, body: InputObject)
    case delete(MigrationMatch)

    /// The member that the step is written as.
    var name: String {
        switch self {
        case .addClass: return "addClass"
        case .removeClass: return "removeClass"
        case .renameClass: return "renameClass"
        case .addProperty: return "addProperty"
        case .removeProperty: return "removeProperty"
        case .renameProperty: return "renameProperty"
        case .changeProperty: return "changeProperty"
        case .setPrimaryKey: return "setPrimaryKey"
        case .setIndex: return "setIndex"
        case .setType: return "setType"
        case .set: return "set"
        case .create: return "create"
        case .delete: return "delete"
        }
    }
}
