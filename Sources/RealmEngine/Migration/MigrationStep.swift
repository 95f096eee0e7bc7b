// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// One step of a migration. Each sees what those before it did.
package enum MigrationStep: Sendable {
    /// Makes a class.
    case addClass(ClassInput)
    /// Removes a class with its objects; no link may lead to it.
    case removeClass(name: String)
    /// Gives a class another name; links to it stay.
    case renameClass(name: String, to: String)
    /// `value` is what existing objects get.
    case addProperty(className: String, PropertyInput, value: InputValue?)
    /// Removes a property with its values.
    case removeProperty(className: String, name: String)
    /// Gives a property another name; its values stay.
    case renameProperty(className: String, name: String, to: String)
    /// What is nil stays. `conversion` is a name of `ValueConversion`; `nullValue` replaces nulls.
    case changeProperty(
        className: String, name: String, optional: Bool?, type: String?, conversion: String?, nullValue: InputValue?)
    /// Nil clears.
    case setPrimaryKey(className: String, name: String?)
    /// Adds, changes or removes the index of a property; nil removes it.
    case setIndex(className: String, name: String, indexed: String?)
    /// Makes a class top-level or embedded.
    case setType(className: String, type: String)
    /// Merges values into matches; entries may be expressions over the values before.
    case set(MigrationMatch, values: InputObject)
    /// Creates an object.
    case create(className: String, body: InputObject)
    /// Deletes matches with what they own.
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
