// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A `forEach` step made ready for being carried out: names are checked and expressions are parsed, once
/// for all rounds.
struct LoopPlan {
    /// What the loop goes through.
    let source: Source
    /// The name of the object or element in each round.
    let variable: String
    /// The name of the key or index of the element; nil for none.
    let keyVariable: String?
    /// What is done in each round, in this order.
    let actions: [Action]

    /// What a loop goes through.
    enum Source {
        /// The objects of a class that match a query.
        case objects(MigrationMatch)
        /// The elements of the collection at a key path.
        case elements(ExpressionPath)
    }

    /// One step of a round.
    enum Action {
        /// Creates an object, or writes to the one with its primary key.
        case create(className: String, body: ObjectTemplate, name: String?, upsert: WriteSession.UpsertPolicy?)
        /// Writes values to the object of a variable.
        case set(object: String, values: ObjectTemplate)
        /// Deletes the object of a variable; with the path of the step, for the error about lost data.
        case delete(object: String, InputPath)
        /// An inner loop.
        case forEach(LoopPlan)

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

    /// The maximum number of loops inside each other.
    static let maximumDepth = 8
}
