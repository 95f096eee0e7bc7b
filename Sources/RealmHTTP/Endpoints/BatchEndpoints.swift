// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Batches: lists of operations that are carried out in one transaction.
enum BatchEndpoints {
    /// Answers `POST …/batch`: the operations are carried out in order, all of them or none.
    ///
    /// The body is read before the write is queued. On the writer's thread each operation sees the changes of those before it.
    ///
    /// - Parameter call: The call, with the operations in its body.
    /// - Returns: A reply that is completed when the changes are durable, with one result per
    ///   operation.
    /// - Throws: The `Problem` of a malformed body or option. A problem of one operation has its
    ///   index in `op`, and nothing is changed.
    static func run(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, honours: .init(returns: true, handling: true))
        return try reply(to: call, database, options, carryingOut: try BatchReader(call.limits).read(call))
    }

    /// Answers `POST …/batch/{class}`: the same for operations on objects of one class, which do not name it.
    ///
    /// - Parameter call: The call, with the class in its path and the operations in its body.
    /// - Returns: The same reply.
    /// - Throws: The same problems, and that of an unknown class.
    static func runInClass(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(returns: true, handling: true))
        let operations = try BatchReader(call.limits, className: target.name).read(call)
        try target.requireClass()
        return try reply(to: call, target.database, options, carryingOut: operations)
    }

    /// Queues the operations, and returns the reply that they are answered with.
    private static func reply(
        to call: Call, _ database: Database, _ options: WriteOptions, carryingOut operations: [BatchOperation]
    ) throws(Problem) -> Reply {
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return try BatchRun(context).run(operations)
        }
        return try write.reply()
    }
}
