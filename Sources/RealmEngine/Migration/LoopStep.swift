// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One step inside a `forEach` step of a migration. It changes data only.
package enum LoopStep: Sendable {
    /// Creates an object of a class, or with `upsert` writes to the one with the same primary key. Later
    /// steps of the round know it under the name `as`.
    case create(className: String, body: InputObject, as: String? = nil, upsert: WriteSession.UpsertPolicy? = nil)
    /// Writes values to the object that a variable refers to.
    case set(object: String, values: InputObject)
    /// Deletes the object that a variable refers to; it counts as lost data.
    case delete(object: String)
    /// Carries out steps for each element of a collection.
    case forEach(MigrationLoop)

    /// The name of the member that contains the step in JSON, for the paths of errors.
    var name: String {
        switch self {
        case .create: return "create"
        case .set: return "set"
        case .delete: return "delete"
        case .forEach: return "forEach"
        }
    }
}
