// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One step of a migration. Each step sees the result of the steps before it.
package enum MigrationStep: Sendable {
    /// Adds a class with its properties.
    case addClass(ClassInput)
    /// Removes a class with its objects; fails when a property of another class links to it.
    case removeClass(name: String)
    /// Gives a class another name. Links to the class remain.
    case renameClass(name: String, to: String)
    /// Adds a property to a class. Existing objects get `value`, or the default value of the type when it is nil.
    case addProperty(className: String, PropertyInput, value: InputValue?)
    /// Removes a property with its values; values that are not null count as lost data.
    case removeProperty(className: String, name: String)
    /// Gives a property another name. Its values remain.
    case renameProperty(className: String, name: String, to: String)
    /// Changes the type, the nullability or the kind of collection of a property; whatever is nil remains as it is.
    case changeProperty(PropertyChange)
    /// Makes a property the primary key of its class; a nil name makes the class one without a primary key.
    case setPrimaryKey(className: String, name: String?)
    /// Adds, changes or removes the search index of a property: `general`, `fulltext`, or nil to remove it.
    case setIndex(className: String, name: String, indexed: String?)
    /// Changes the type of a class between `object` (top-level) and `embedded`.
    case setType(className: String, type: String)
    /// Writes values to the matching objects. A value may be an expression over the values that the object had before the step.
    case set(MigrationMatch, values: InputObject)
    /// Creates an object of a class with the given members, or with `upsert` writes to the one with the
    /// same primary key. Later steps know it under the name `as`.
    case create(className: String, body: InputObject, as: String? = nil, upsert: WriteSession.UpsertPolicy? = nil)
    /// Deletes the matching objects together with the embedded objects they own; each counts as lost data.
    case delete(MigrationMatch)
    /// Carries out steps that change data for each object of a class.
    case forEach(MigrationLoop)

    /// The name of the member that contains the step in JSON. Errors have it in their path, as in `/steps/2/renameClass/to`.
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
        case .forEach: return "forEach"
        }
    }

    /// Whether the step makes, changes or deletes objects that it chooses.
    var changesObjects: Bool {
        switch self {
        case .set, .create, .delete, .forEach: return true
        case .addClass, .removeClass, .renameClass, .setType: return false
        case .addProperty, .removeProperty, .renameProperty, .changeProperty, .setPrimaryKey, .setIndex: return false
        }
    }

    /// The number of steps: 1, and those inside a loop.
    var stepCount: Int {
        if case .forEach(let loop) = self { return loop.stepCount }
        return 1
    }
}
