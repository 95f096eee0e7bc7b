// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Migrations: changes of a schema together with the data.
enum MigrationEndpoints {
    /// Answers `POST …/migrations`: changes the schema and the data in a separate commit.
    ///
    /// The write shares its commit with no other. Where the configuration keeps backups, the file
    /// is copied before the commit, except in a dry run.
    ///
    /// - Parameter call: The call, with the steps in its body.
    /// - Returns: A reply with the schema before and after, and the name of the backup if one was
    ///   made.
    /// - Throws: The `Problem` of a malformed body. Problems of steps are in the reply.
    static func migrate(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call)
        let json = try call.request.body.takeJSON(call.limits.json)
        let migration = try MigrationReader(call.limits).migration(json)
        let write = PreparedWrite(call: call, database: database, options: options, isAlone: true) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return try Problem.writing { () throws(WriteError) in
                let migrated = try context.session.migrate(migration)
                // The file has nothing of this transaction yet, and no other write is running.
                let backup = options.isDryRun ? nil : try database.backUp(before: context.session)
                var writer = JSONWriter(reservingCapacity: 4096)
                writer.key("before")
                writer.raw(Array(SchemaDocument.document(migrated.before).json.utf8))
                writer.key("after")
                writer.raw(Array(SchemaDocument.document(migrated.after).json.utf8))
                if let backup { writer.member("backup", text: backup) }
                return WriteDraft(status: 200, content: .members(writer.buffer))
            }
        }
        return try write.reply()
    }
}
