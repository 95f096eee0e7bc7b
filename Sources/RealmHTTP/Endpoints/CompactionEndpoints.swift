// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Compaction of realms while they are served.
struct CompactionEndpoints: Sendable {
    /// The workers, which copy the file.
    let workers: WorkerPool

    /// Answers `POST …/compact`: replaces the file by one without free space.
    ///
    /// Reads, streams and snapshots go on; writes wait only for the end of it.
    ///
    /// - Parameter call: The call.
    /// - Returns: A reply with the size of the file before and after, completed when the new file is in
    ///   use.
    /// - Throws: `conflicting_parameters` inside an interactive transaction, which would have to end
    ///   first.
    func compact(_ call: WriteCall) throws(Problem) -> Reply {
        let database = try call.database()
        try QueryParameters(call.request.target).requireKnown([])
        guard try WriteOptions(call).transaction == nil else {
            throw Problem(.conflictingParameters, "a realm is compacted between transactions").with("header", "Realm-Transaction")
        }
        let control = WorkControl(deadline: .now().adding(seconds: Double(call.limits.answerSeconds)))
        let wait = Duration.seconds(call.limits.writeSeconds)
        return workers.reply(to: call.request) { promise in
            database.compact(wait: wait, control) { result in
                switch result {
                case .success(let compacted): promise.complete(CompactionEndpoints.response(compacted))
                case .failure(let error): promise.complete(Response(Problem(error), for: call.request))
                }
            }
        }
    }

    /// Makes the response that states the sizes before and after.
    private static func response(_ compacted: Database.Compacted) -> Response {
        var writer = JSONWriter(reservingCapacity: 128)
        writer.beginObject()
        writer.member("before", int: compacted.before)
        writer.member("after", int: compacted.after)
        writer.member("version", text: compacted.version.tokenText)
        writer.endObject()
        var response = Response(unstored: writer.buffer)
        response.add("Realm-Version", compacted.version.tokenText)
        return response
    }
}
