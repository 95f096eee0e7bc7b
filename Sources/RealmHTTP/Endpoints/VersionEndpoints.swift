// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The versions that the file of a realm has, and the undoing of commits.
struct VersionEndpoints: Sendable {
    let server: ServerState

    /// The versions of a page when the request does not say how many.
    private static let usualLimit = 20
    /// The most versions of a page, as each is compared with the one before.
    private static let mostVersions = 200

    /// Answers `GET …/versions`: the newest version and those before it, each with what its commit changed.
    ///
    /// Only principals from whom nothing is hidden get the list. A worker answers, as comparing versions may take long.
    ///
    /// - Throws: `forbidden`, or the `Problem` of a wrong parameter.
    func list(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ParameterSet(call)
        let context = try ReadContext(call)
        guard context.showsEverything else { throw AccessPolicy.forbiddenByRoles }
        let limit = try parameters.int("limit", in: 1...VersionEndpoints.mostVersions) ?? VersionEndpoints.usualLimit
        let after = try parameters.text("after")
        let last = try after.map { text throws(Problem) in
            guard let number = UInt64(text) else { throw Problem(.cursorInvalid, "'after' must be 'next' of another page") }
            return number
        }
        return .work {
            do throws(Problem) {
                return try page(context, limit: limit, before: last)
            } catch {
                return Response(error, for: call)
            }
        }
    }

    /// Answers `POST …/undo`: writes the inverse of one commit as a transaction.
    ///
    /// - Throws: The `Problem` of a malformed body. Problems of the undo are in the reply.
    func undo(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        var options = try WriteOptions(call)
        let reader = SchemaReader(place: InputPlace())
        let members = try reader.members(.object(try call.bodyObject()), ["version", "dryRun"], InputPlace())
        let text: String? =
            switch members["version"] {
            case .integer(let number)?: String(number)
            case .string(let text)?: text
            default: nil
            }
        guard let name = text.flatMap({ VersionName($0) }) else {
            throw reader.malformed("'version' must be the number of a version, or its token", InputPlace().inside("version"))
        }
        switch members["dryRun"] {
        case nil, .bool(false)?: break
        case .bool(true)?: options = options.asDryRun
        default: throw reader.malformed("'dryRun' must be true or false", InputPlace().inside("dryRun"))
        }
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return try CommitUndo(name).run(context)
        }
        return try write.reply()
    }

    private func page(_ context: ReadContext, limit: Int, before last: UInt64?) throws(Problem) -> Response {
        let database = context.database
        let entries = VersionEndpoints.entries(database, newest: context.version.token.version)
        let rest = entries.drop { $0.number >= last ?? .max }
        let end = Instant.now().adding(seconds: Double(context.limits.readSeconds))
        var writer = JSONWriter(reservingCapacity: 1 << 14)
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for entry in rest.prefix(limit) { try write(entry, context, until: end, to: &writer) }
        writer.endArray()
        writer.member("next", text: rest.count > limit ? rest.prefix(limit).last.map { String($0.number) } : nil)
        writer.key("undo")
        writer.write(database.retention.json)
        writer.member("keptBytes", int: database.formerByteCount)
        writer.member("droppedEarly", int: database.droppedVersionCount)
        writer.endObject()
        var response = Response(unstored: writer.buffer)
        response.add("Realm-Version", context.version.tokenText)
        return response
    }

    private struct Entry {
        let number: UInt64
        /// The time of its commit; nil when that is not known.
        let time: WallClock?
        /// The bytes that are kept for it; nil for the newest version.
        let byteCount: Int?
    }

    /// Returns the versions that a realm has, the newest first.
    private static func entries(_ database: Database, newest: UInt64) -> [Entry] {
        let former = database.formerVersions.filter { $0.version < newest }
        let isNewest = database.current.token.version == newest
        return [Entry(number: newest, time: isNewest ? database.newestTime : nil, byteCount: nil)]
            + former.reversed().map { Entry(number: $0.version, time: $0.time, byteCount: $0.byteCount) }
    }

    private func write(
        _ entry: Entry, _ context: ReadContext, until end: Instant, to writer: inout JSONWriter
    ) throws(Problem) {
        writer.beginObject()
        writer.member("version", int: entry.number)
        writer.member("token", text: VersionToken(epoch: context.database.epoch, version: entry.number).text)
        if let time = entry.time { writer.member("time", time: time) } else { writer.nullMember("time") }
        if let byteCount = entry.byteCount { writer.member("bytes", int: byteCount) }
        writer.key("changes")
        if let counts = try changes(entry.number, context, until: end) {
            writer.beginObject()
            counts.write(to: &writer)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
    }

    /// Returns what a commit changed; nil when the version before is not there, or there was no time to find out.
    private func changes(
        _ number: UInt64, _ context: ReadContext, until end: Instant
    ) throws(Problem) -> DifferenceCounts? {
        guard number > 1, Instant.now() < end else { return nil }
        let database = context.database
        do throws(StorageError) {
            let isNewest = number == context.version.token.version
            guard let old = try database.formerVersion(number - 1),
                let new = isNewest ? context.version : try database.formerVersion(number)
            else { return nil }
            let budget = WorkBudget(deadline: end)
            return try? DifferenceCounts.counting(from: old.snapshot, to: new.snapshot, budget)
        } catch {
            throw Problem(serving: error)
        }
    }
}
