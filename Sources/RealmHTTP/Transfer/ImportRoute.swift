// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension Application {
    /// How long an import may take.
    private static let importSeconds = 600.0

    /// `POST …/import`: an export, or lines of objects of one class.
    func importObjects(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, types: ["application/x-ndjson"], names: ["mode", "class", "atomic"])
        let mode: ImportRun.Mode = try options.parameters.choice("mode", ["create", "upsert"]) == "upsert" ? .upsert : .create
        guard try options.parameters.choice("atomic", ["true", "false"]) == "true" else {
            throw .invalidParameter("atomic", "an import is one transaction")
        }
        let contents = try ImportReader(
            className: try options.parameters.text("class"), depthLimit: limits.jsonDepth
        ).read(call.request.body)
        var write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let run = ImportRun(context.session, mode)
            do throws(Problem) { try run.run(contents) } catch {
                // Nothing of it was committed.
                throw error.has("line") ? error.with("committed", .integer(0)) : error
            }
            var writer = JSONWriter(reservingCapacity: 64)
            writer.member("created", int: run.created)
            writer.member("updated", int: run.updated)
            return WriteDraft(status: 200, content: .members(writer.buffer))
        }
        write.seconds = Application.importSeconds
        return try write.reply()
    }
}
