// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A request that changes a realm by other means than a plain write, such as a migration.
///
/// The response is sent when the work is done, or for `Prefer: respond-async` at once with the path of its outcome.
package struct DeferredOperation: Sendable {
    /// The result of the operation.
    package struct Outcome: Sendable {
        /// The HTTP status of the response.
        let status: Int
        /// The version that the response states.
        let version: VersionToken
        /// The JSON document that is its body.
        let body: OutputBuffer
        /// The path of the created resource; nil for none.
        var location: String?

        package init(status: Int, version: VersionToken, body: OutputBuffer, location: String? = nil) {
            self.status = status
            self.version = version
            self.body = body
            self.location = location
        }
    }

    /// Receives the end of an operation, on any thread.
    package typealias Completion = @Sendable (Result<Outcome, Problem>) -> Void

    /// The request.
    package let call: Call
    /// The realm.
    package let database: Database
    /// The preferences of the client.
    package let preferences: Preferences

    package init(call: Call, database: Database, preferences: Preferences) {
        self.call = call
        self.database = database
        self.preferences = preferences
    }

    /// Returns the reply of an operation.
    ///
    /// - Parameter run: Begins the operation, and has the completion called once. With a registered operation it has to call
    ///   `begin` before anything takes place, and to leave everything as it is when that returns false.
    /// - Returns: The reply. A refusal before `run` returns is reported at once, even if the client prefers a response without
    ///   waiting.
    package func reply(_ run: @escaping @Sendable (AsyncOperation?, @escaping Completion) -> Void) -> Reply {
        guard preferences.isAsynchronous else {
            return .later { promise in
                run(nil) { result in
                    endAudit(result)
                    promise.complete(response(to: result))
                }
            }
        }
        let operation = database.asyncWrites.beginOperation(owner: call.owner)
        let refusal = RankedMutex<Problem?>(.leaf, nil)
        call.audit?.noteEarlyResponse()
        run(operation) { result in
            endAudit(result)
            switch result {
            case .success(let outcome):
                operation.end(
                    isCommitted: true,
                    AsyncWriteDocument.committed(version: outcome.version.text, status: outcome.status, body: outcome.body))
            case .failure(let problem):
                refusal.withLock { $0 = problem }
                call.onLateRefusal?(problem)
                operation.end(isCommitted: false, AsyncWriteDocument.failed(problem, requestID: call.request.id))
            }
        }
        if let problem = refusal.withLock({ $0 }) { return .now(Response(problem, for: call)) }
        let applied = preferences.applied(returns: false, handling: false, isAsynchronous: true)
        return .now(AsyncWriteDocument.accepted(operation.id, in: database, call, applied: applied))
    }

    /// Writes the line of the audit log, on the thread on which the operation ended.
    private func endAudit(_ result: Result<Outcome, Problem>) {
        switch result {
        case .success(let outcome): call.audit?.end(status: outcome.status, version: outcome.version.text)
        case .failure(let problem): call.audit?.end(status: problem.status, code: problem.code.rawValue)
        }
    }

    /// Returns the response to a request that has waited for the end of the operation.
    private func response(to result: Result<Outcome, Problem>) -> Response {
        switch result {
        case .success(let outcome): return DeferredOperation.response(outcome, to: call)
        case .failure(let problem): return Response(problem, for: call)
        }
    }

    /// Returns the response with an outcome, and notes its version for the log line of the request.
    package static func response(_ outcome: Outcome, to call: Call) -> Response {
        var response = Response(unstored: outcome.body, status: outcome.status)
        call.versionToken = outcome.version.text
        response.add("Realm-Version", outcome.version.text)
        if let location = outcome.location { response.addLocation(location) }
        return response
    }
}
