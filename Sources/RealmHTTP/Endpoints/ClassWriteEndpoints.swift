// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Writes to a class: new objects, and many objects at once.
struct ClassWriteEndpoints: Sendable {
    /// `POST …/objects/{class}`: an object, or an array or lines of objects, all or none.
    func create(_ call: WriteCall) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: WriteOptions.json + ["application/x-ndjson"], names: ["upsert", "nested"],
            honours: .init(returns: true, handling: true))
        let maker = ObjectMaker(
            className: target.name, policy: try ObjectMaker.policy(options.parameters), input: try options.input())
        let bodies = try ObjectBodies(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            switch bodies {
            case .one(let body): return try maker.makeOne(body, context)
            case .many(let objects, let lines): return try maker.makeMany(objects, lines, context)
            }
        }
        return try write.reply()
    }

    /// `PATCH …/objects/{class}?where=…`: a merge patch for every match.
    func patch(_ call: WriteCall) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: ["application/merge-patch+json"] + WriteOptions.json,
            names: ["where", "args", "maxAffected", "nested"], honours: .init(returns: true, handling: true))
        let input = try options.input()
        let body = try ObjectBodies.one(call)
        let selection = try Selection(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let object = try body.value()
            let arguments = try selection.arguments(context)
            return WriteDraft.matched(
                try Problem.writing { () throws(WriteError) in
                    try context.session.patchWhere(
                        name, selection.query, arguments: arguments, maximum: selection.maximum, object, options: input)
                })
        }
        return try write.reply()
    }

    /// `DELETE …/objects/{class}?where=…`
    func delete(_ call: WriteCall) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, types: [], names: ["where", "args", "maxAffected"], honours: .init(returns: true))
        let selection = try Selection(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let arguments = try selection.arguments(context)
            return WriteDraft.matched(
                try Problem.writing { () throws(WriteError) in
                    try context.session.deleteWhere(
                        name, selection.query, arguments: arguments, maximum: selection.maximum)
                })
        }
        return try write.reply()
    }

    /// `DELETE …/objects?confirm=all`: empties every class and keeps the schema.
    func deleteAll(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, types: [], names: ["confirm"])
        switch try options.parameters.text("confirm") {
        case "all": break
        case nil:
            throw Problem(.missingWhere, "say 'confirm=all' to delete every object of this realm").with("parameter", "confirm")
        default: throw .invalidParameter("confirm", "'confirm' has to be 'all'")
        }
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return WriteDraft.matched(try Problem.writing { () throws(WriteError) in try context.session.deleteAllObjects() })
        }
        return try write.reply()
    }
}
