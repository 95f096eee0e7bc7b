// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Batches of operations.
struct BatchEndpoints: Sendable {
    /// `POST …/batch`: operations in order, all or none.
    func run(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, types: WriteOptions.json, honours: .init(returns: true, handling: true))
        let operations = try BatchReader(call.limits).read(call.request)
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return try BatchRun(context, limits: call.limits).run(operations)
        }
        return try write.reply()
    }
}
