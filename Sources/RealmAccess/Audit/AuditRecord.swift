// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One request on its way to its line of the audit log.
///
/// Facts about the request are added until the line is written: once the outcome of a write is certain, on the writer's thread,
/// or else when the response is finished. That is before the client can have the response, and happens once. Any thread may use
/// it.
package final class AuditRecord: Sendable {
    /// The line as far as it is known.
    private struct State {
        /// The content of the line.
        var entry: AuditEntry
        /// Whether the line was written.
        var isDone = false
        /// Whether the response precedes the outcome and does not report it.
        var isAnsweredBefore = false
    }

    /// The log that gets the line.
    private let log: AuditLog
    private let state: RankedMutex<State>

    /// Makes the record of a request.
    ///
    /// - Parameters:
    ///   - log: The log that gets the line.
    ///   - entry: The facts about the request.
    package init(_ log: AuditLog, _ entry: AuditEntry) {
        self.log = log
        state = RankedMutex(.leaf, State(entry: entry))
    }

    // MARK: - Facts

    /// Whether the next key will be written, and not only counted.
    package var takesMoreKeys: Bool { state.withLock { $0.entry.keys.takesMore } }

    /// The keys so far, which are reset when the creation of objects is undone.
    package var keys: AuditKeys {
        get { state.withLock { $0.entry.keys } }
        set { state.withLock { $0.entry.keys = newValue } }
    }

    /// Adds the key of an object that the request names or has made.
    package func add(key: String) { state.withLock { $0.entry.keys.add(key) } }

    /// Adds the key of an object of one of several classes.
    package func add(key: String, of className: String) { add(key: className + "/" + key) }

    /// Counts an object whose key would not be written.
    package func countKey() { state.withLock { $0.entry.keys.count() } }

    /// States the realm that the request is about, where the path does not have it.
    package func setRealm(_ name: String) { state.withLock { $0.entry.realm = name } }

    /// Sets the id of the created resource.
    package func setTarget(_ id: String) { state.withLock { $0.entry.id = id } }

    /// Marks the request as a dry run.
    package func noteDryRun() { state.withLock { $0.entry.isDryRun = true } }

    /// Records that the response is that of an earlier request.
    package func noteRepetition() { state.withLock { $0.entry.isRepeated = true } }

    /// Marks the request as answered before its outcome is known, so that the line does not follow the response.
    package func noteEarlyResponse() { state.withLock { $0.isAnsweredBefore = true } }

    // MARK: - The line

    /// Writes the line with the outcome, unless it was written.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - code: The code of the problem; nil for success.
    ///   - version: The version that was made or given out; nil for none.
    package func end(status: Int, code: String? = nil, version: String? = nil) {
        let entry = state.withLock { state -> AuditEntry? in
            guard !state.isDone else { return nil }
            state.isDone = true
            state.entry.status = status
            state.entry.code = code
            state.entry.version = version
            if AuditRecord.isRefusal(status) { state.entry.kind = .refusal }
            return state.entry
        }
        if let entry { log.append(entry) }
    }

    /// Writes the line with the outcome of a response, unless the outcome is reported elsewhere.
    ///
    /// - Parameters:
    ///   - code: The code of the problem; nil for success.
    ///   - version: The version that was made or returned; nil for none.
    package func respond(status: Int, code: String?, version: String?) {
        if code == nil, state.withLock({ $0.isAnsweredBefore }) { return }
        end(status: status, code: code, version: version)
    }

    /// Writes another line: the transaction that the request has begun ended without a request.
    package func transactionEnded(_ id: String, _ state: String) {
        let begun = self.state.withLock { $0.entry }
        var entry = AuditEntry(kind: .transaction)
        (entry.sender, entry.realm, entry.id, entry.state) = (begun.sender, begun.realm, id, state)
        entry.requestID = begun.requestID
        log.append(entry)
    }

    /// Whether a status says that the request was refused for who sent it.
    package static func isRefusal(_ status: Int) -> Bool { status == 401 || status == 403 }
}
