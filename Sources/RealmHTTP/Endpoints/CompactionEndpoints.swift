// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Compaction of realms while they are served.
struct CompactionEndpoints: Sendable {
    let server: ServerState

    /// Answers `POST …/compact`: replaces the file by one without free space.
    ///
    /// Reads, streams and snapshots continue; writes wait only for its last step. It continues without its client. Detaching the realm
    /// cancels it.
    ///
    /// - Returns: A reply with the size of the file before and after, completed when the new file is in
    ///   use; with `respond-async` 202 before that.
    /// - Throws: `precondition_failed` when the realm has another version than `If-Match` demands. It is compared once more
    ///   when the file is replaced.
    func compact(_ call: Call) throws(Problem) -> Reply {
        let (name, database) = (try call.match[.realm], try call.database())
        try call.checkQueryNames()
        let options = try WriteOptions(call)
        let newest = database.current.token
        try options.condition.require(newest)
        let version = options.condition.decided(at: newest).version?.version
        let control = WorkControl(deadline: .now().adding(seconds: Double(call.limits.http.answerSeconds)))
        let wait = Duration.seconds(call.limits.writeSeconds)
        let deferred = DeferredOperation(call: call, database: database, preferences: options.preferences)
        return deferred.reply { operation, completion in
            let isQueued = server.workers.submit(for: call.account) {
                guard operation?.begin() ?? true else { return }
                server.directory.catalog.work(on: name, control) {
                    database.compact(wait: wait, ifVersion: version, control) { result in
                        completion(
                            result.map(CompactionEndpoints.outcome).mapError { error in
                                control.isCancelled ? server.directory.detached(name) : Problem(error)
                            })
                    }
                }
            }
            if !isQueued { completion(.failure(.noWorker)) }
        }
    }

    /// Makes the outcome that states the sizes before and after.
    private static func outcome(_ compacted: Database.Compacted) -> DeferredOperation.Outcome {
        var writer = JSONWriter(reservingCapacity: 128)
        writer.beginObject()
        writer.member("before", int: compacted.before)
        writer.member("after", int: compacted.after)
        writer.member("version", text: compacted.version.tokenText)
        writer.endObject()
        return .init(status: 200, version: compacted.version.token, body: writer.buffer)
    }
}
