// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes at the path of a class: creating objects, and changing or deleting all objects that match.
///
/// Bodies are decoded on the caller's thread without the schema. Problems of values are thrown
/// later, on the writer's thread, because those of the realm's state are reported first.
enum ClassWriteEndpoints {
    /// Answers `POST …/objects/{class}`: creates one object, or all objects of an array or of lines of JSON as a unit.
    ///
    /// - Parameter call: The call, with the class in its path.
    /// - Returns: A reply that is completed when the objects are durable: 201 with the object, or
    ///   counts and keys; 200 when `upsert` found all of them there already.
    /// - Throws: The `Problem` of a malformed body, an unknown class or a missing condition.
    ///   Problems of objects are in the reply.
    static func create(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(returns: true, handling: true))
        let maker = ObjectMaker(
            className: target.name, policy: try ObjectMaker.policy(options.parameters), input: try options.input())
        let bodies = try ObjectBodies(call, options) {
            // The existence of objects, and the rights of the sender, are checked object by object.
            guard maker.policy == nil, call.writeRights == nil else { return nil }
            return target.database.rowShape(of: target.name, .documents)
        }
        let limits = call.limits
        try target.requireClass()
        try target.requireCondition(options.condition)
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            switch bodies {
            case .one(let body): return try maker.makeOne(body, context)
            case .many(let objects, let lines): return try maker.makeMany(objects, lines, context)
            case .rows(let rows, let text): return try maker.makeRows(rows, text: text, limits: limits, context)
            }
        }
        return try write.reply()
    }

    /// Answers `PATCH …/objects/{class}?where=…`: applies a merge patch to every object that matches.
    ///
    /// `where` is required, and `maxAffected` bounds the number of matches.
    ///
    /// - Parameter call: The call, with the class in its path and the patch in its body.
    /// - Returns: A reply with the number of matches, completed when the changes are durable.
    /// - Throws: The `Problem` of a malformed body, a missing or wrong predicate, an unknown class
    ///   or a missing condition.
    static func patch(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(returns: true, handling: true))
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
                try Problem.written(
                    context.session.patchWhere(
                        name, selection.query, arguments: arguments, maximum: selection.maximum, object, options: input)))
        }
        return try write.reply()
    }

    /// Answers `DELETE …/objects/{class}?where=…`: deletes every object that matches, with the embedded objects that it owns.
    ///
    /// - Parameter call: The call, with the class in its path.
    /// - Returns: A reply with the number of matches, completed when the deletion is durable.
    /// - Throws: The `Problem` of a missing or wrong predicate, an unknown class or a missing
    ///   condition.
    static func delete(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(returns: true))
        let selection = try Selection(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let arguments = try selection.arguments(context)
            return WriteDraft.matched(
                try Problem.written(
                    context.session.deleteWhere(name, selection.query, arguments: arguments, maximum: selection.maximum)))
        }
        return try write.reply()
    }

    /// Answers `DELETE …/objects?confirm=all`: deletes the objects of every class and keeps the schema.
    ///
    /// - Returns: A reply with the number of objects, completed when the deletion is durable.
    /// - Throws: `missing_where` without `confirm`, `invalid_parameter` when it has another value.
    static func deleteAll(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call)
        switch try options.parameters.text("confirm") {
        case "all": break
        case nil:
            throw Problem(.missingWhere, "send 'confirm=all' to delete every object of this realm").with("parameter", "confirm")
        default: throw .invalidParameter("confirm", "'confirm' must be 'all'")
        }
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return WriteDraft.matched(try Problem.written(context.session.deleteAllObjects()))
        }
        return try write.reply()
    }
}
