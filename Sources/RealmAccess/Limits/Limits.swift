// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// All configurable limits of the server, with their defaults.
///
/// The command line changes them with `--limit NAME=VALUE`, by the names in `entries`; a reload of the configuration those that
/// `Entry.takesEffect` says. Each is a maximum of the amount in its comment: a number, bytes where the name ends in `Bytes`,
/// seconds where it ends in `Seconds`, and of one client where it ends in `PerPrincipal`. docs/limits.md states what happens
/// beyond each.
package struct Limits: Sendable, Equatable {
    /// Connections, heads and sending.
    package var http = HTTPLimits()
    /// Bodies in temporary files.
    package var spool = SpoolRoom.Bounds()
    /// A body other than an import, before and after decompression; beyond it the status is 413.
    package var bodyBytes = 8 << 20
    /// The body of an import, before and after decompression.
    package var importBytes = 1 << 30
    /// One line of an import.
    package var importRecordBytes = 24 << 20
    package var batchOperations = 10_000
    /// Nested arrays and objects in the JSON of a body.
    package var jsonDepth = 64
    /// In one JSON document, or in one line of an import.
    package var jsonValues = 400_000
    /// The text of a query.
    package var queryBytes = 256 << 10
    package var queryArgs = 1000
    /// In each of `sort`, `distinct` and `ops`.
    package var queryTerms = 100
    /// Memory for the changes of one write; imports are exempt.
    package var writeBytes = WriteLimits().writeBytes
    /// Memory for uncommitted changes of all realms. The largest write may continue.
    package var uncommittedBytes = WriteLimits().uncommittedBytes
    /// The same of one client in all realms, with the same exception.
    package var uncommittedBytesPerPrincipal = WriteLimits().uncommittedBytesPerClient
    /// Rounds that the loops of one migration may make together.
    package var migrationRounds = WriteLimits().migrationRounds
    /// Values that one query may keep in order to sort rows or to find distinct ones.
    package var sortedValues = 2_000_000
    /// Memory of SQLite for one statement of SQL, for example to sort.
    package var sqlBytes = 64 << 20
    /// Paths in each of `fields`, `expand` and `keyPaths`.
    package var fields = 1000
    /// Items on a page, and positions in `at`.
    package var page = 1000
    /// Open, being opened or failed. Fewer are possible where the system allows few open files.
    package var realms = 2000
    /// Streams and waiting polls of the server.
    package var streams = 500
    /// Streams and waiting polls of one client.
    package var streamsPerPrincipal = 20
    /// Registrations of subscriptions that one client may have.
    package var registrations = 100
    /// Subscriptions in one registration.
    package var registrationNames = 50
    /// After which a registration without a reader expires.
    package var registrationSeconds = 60
    /// Change sets that a stream may be behind before it is reset.
    package var queueEvents = 256
    /// Bytes of change sets that a stream may be behind before it is reset.
    package var queueBytes = 1 << 20
    /// Observed definitions of all realms that are kept although no client reads them.
    package var idleDefinitions = 500
    /// Memory of the observed definitions of all clients, with their queries, arguments and kept change sets.
    package var observedBytes = 128 << 20
    /// Memory of the definitions that one client observes.
    package var observedBytesPerPrincipal = 64 << 20
    /// Change sets of a definition that are kept for clients that resume.
    package var retentionSets = 1000
    /// Bytes of these change sets.
    package var retentionBytes = 16 << 20
    /// For which a definition that no client reads is kept.
    package var retentionSeconds = 300
    /// The work on one response, or on one piece of a stream.
    package var readSeconds = 10
    /// A write, with its wait for the writer.
    package var writeSeconds = 5
    /// For which one commit of an import may hold the writer.
    package var importSeconds = 60
    /// Threads for longer work. They are started when they are needed.
    package var workers = max(8, 4 * Threads.processorCount)
    /// Workers that one client may occupy at a time.
    package var workersPerPrincipal = max(2, Threads.processorCount)
    /// Requests that may wait for a worker.
    package var workerQueue = 512
    /// Requests of one client that may wait for a worker.
    package var workerQueuePerPrincipal = 256
    /// Memory for commits that wait to be shipped.
    package var shipQueueBytes = 64 << 20
    /// Interactive transactions of one client in one realm: the open one and those that wait.
    package var transactionsPerPrincipal = WriteLimits().transactionsPerClient
    /// After which an unused interactive transaction ends.
    package var transactionIdleSeconds = 5
    /// After which an interactive transaction ends in any case.
    package var transactionSeconds = 30
    /// The longest time to live of a snapshot lease.
    package var snapshotSeconds = 600
    /// Realms that have their own metrics; the others are only counted.
    package var metricRealms = 200
    /// Requests per second that one client may send; 0 switches this limit off.
    package var rate = 0
    /// Snapshot leases of one realm.
    package var snapshots = 16
    /// Snapshot leases of one client.
    package var snapshotsPerPrincipal = 8
    /// Versions of a realm that may be in use, beyond which its oldest snapshot leases are ended.
    package var liveVersions = 1000
    /// Classes of a realm, beyond which none are added. A file that has more is served.
    package var classes = WriteLimits().classes
    /// Properties of a class, beyond which none are added.
    package var properties = WriteLimits().properties
    /// A document, or one row of a stream.
    package var answerBytes = 64 << 20
    /// Bodies of all clients that are being received, parsed or waiting for the writer, with the values parsed from them.
    package var waitingBytes = 512 << 20
    /// The same of one client.
    package var waitingBytesPerPrincipal = 256 << 20
    /// Objects that `expand` puts in the place of links, in one document or one row of a stream.
    package var expandedObjects = 100_000
    /// Groups, or values of a facet, that one result may have.
    package var groups = 100_000
    /// Values that a response shows of each facet.
    package var facetValues = 100
    /// One evaluation of an observed definition, before its subscriptions fail.
    package var observationSeconds = 10
    /// For which an ended snapshot lease is `snapshot_expired` instead of `not_found`. The command line cannot set it.
    package var rememberedSeconds = 600
    /// Memory for responses that are kept because they may be requested again; 0 keeps none.
    package var answerCacheBytes = 32 << 20
    /// A JSON Web Token.
    package var tokenBytes = 8 << 10
    /// Memory for JSON Web Tokens that were verified and may come again; 0 keeps none.
    package var tokenCacheBytes = 16 << 20
    /// JSON Web Tokens that may be verified at a time.
    package var tokenVerifications = 256

    /// Makes the default limits.
    package init() {}

    /// Makes a work budget for one document that is produced outside the time of its request, such as a change set.
    ///
    /// - Returns: A budget with a deadline `readSeconds` from now and the limits for bytes and
    ///   expanded objects.
    package func budgetOfDocument() -> WorkBudget {
        let budget = WorkBudget(deadline: Instant.now().adding(seconds: Double(readSeconds)))
        budget.byteLimit = answerBytes
        budget.objectLimit = expandedObjects
        return budget
    }

    /// A limit that the command line can set.
    package struct Entry: Sendable {
        /// The name of the limit on the command line and in `GET /admin/config`.
        package let name: String
        let unit: Unit
        /// The values that the limit may take.
        package let range: ClosedRange<Int>
        /// The property of `Limits` that has the value of the limit.
        package let path: any WritableKeyPath<Limits, Int> & Sendable
        /// The time at which another value takes effect after a reload of the configuration. Realms take limits over when they
        /// are opened; listeners, threads and memory are set up when the server starts.
        package let takesEffect: SettingEffect

        fileprivate init(
            _ name: String, _ unit: Unit, _ range: ClosedRange<Int>, at path: any WritableKeyPath<Limits, Int> & Sendable,
            _ takesEffect: SettingEffect = .now
        ) {
            (self.name, self.unit, self.range, self.path, self.takesEffect) = (name, unit, range, path, takesEffect)
        }
    }

    enum Unit {
        /// Seconds, which may be stated as `5m`.
        case seconds
        /// Bytes, which may be stated as `64MiB`.
        case bytes
        /// Anything else.
        case count

        /// The end of an error text about a value of another form.
        var hint: String {
            switch self {
            case .seconds: return " in whole seconds, or with a unit such as 5m or 2000ms"
            case .bytes: return " in bytes, or with a unit such as 64MiB"
            case .count: return ""
            }
        }
    }

    /// All limits that the command line can set.
    package static let entries: [Entry] = [
        Entry("target-bytes", .bytes, 64...(64 << 10), at: \.http.targetBytes, .restart),
        Entry("header-bytes", .bytes, 256...(256 << 10), at: \.http.headerBytes, .restart),
        Entry("header-fields", .count, 4...1000, at: \.http.headerFields, .restart),
        Entry("body-bytes", .bytes, 0...(1 << 32), at: \.bodyBytes),
        Entry("import-bytes", .bytes, 0...(1 << 48), at: \.importBytes),
        Entry("import-record-bytes", .bytes, 1...(1 << 32), at: \.importRecordBytes),
        Entry("batch-operations", .count, 0...(1 << 24), at: \.batchOperations),
        Entry("json-depth", .count, 4...1000, at: \.jsonDepth),
        Entry("json-values", .count, 100...(1 << 32), at: \.jsonValues),
        Entry("query-bytes", .bytes, 1...(1 << 20), at: \.queryBytes),
        Entry("query-args", .count, 0...(1 << 20), at: \.queryArgs),
        Entry("query-terms", .count, 1...1000, at: \.queryTerms),
        Entry("sorted-values", .count, 1000...(1 << 40), at: \.sortedValues),
        Entry("sql-bytes", .bytes, (1 << 20)...(1 << 36), at: \.sqlBytes),
        Entry("fields", .count, 1...(1 << 16), at: \.fields),
        Entry("page", .count, 1...(1 << 20), at: \.page),
        Entry("realms", .count, 1...(1 << 20), at: \.realms, .restart),
        Entry("connections", .count, 1...(1 << 20), at: \.http.connections, .restart),
        Entry("connections-per-address", .count, 1...(1 << 20), at: \.http.connectionsPerAddress, .restart),
        Entry("admin-connections", .count, 1...(1 << 16), at: \.http.adminConnections, .restart),
        Entry("streams", .count, 0...(1 << 20), at: \.streams),
        Entry("streams-per-principal", .count, 0...(1 << 20), at: \.streamsPerPrincipal),
        Entry("registrations", .count, 0...(1 << 20), at: \.registrations),
        Entry("registration-names", .count, 1...(1 << 16), at: \.registrationNames),
        Entry("registration-seconds", .seconds, 1...86_400, at: \.registrationSeconds),
        Entry("heartbeat", .seconds, 5...60, at: \.http.heartbeat, .restart),
        Entry("queue-events", .count, 1...(1 << 20), at: \.queueEvents),
        Entry("queue-bytes", .bytes, 1024...(1 << 30), at: \.queueBytes),
        Entry("stall-seconds", .seconds, 1...86_400, at: \.http.stallSeconds, .restart),
        Entry("stream-seconds", .seconds, 10...86_400, at: \.http.streamSeconds, .restart),
        Entry("idle-definitions", .count, 0...(1 << 20), at: \.idleDefinitions),
        Entry("observed-bytes", .bytes, (1 << 20)...(1 << 40), at: \.observedBytes),
        Entry("observed-bytes-per-principal", .bytes, (1 << 20)...(1 << 40), at: \.observedBytesPerPrincipal),
        Entry("retention-sets", .count, 0...(1 << 24), at: \.retentionSets),
        Entry("retention-bytes", .bytes, 0...(1 << 34), at: \.retentionBytes),
        Entry("retention-seconds", .seconds, 0...86_400, at: \.retentionSeconds),
        Entry("read-seconds", .seconds, 1...3600, at: \.readSeconds),
        Entry("write-seconds", .seconds, 1...3600, at: \.writeSeconds, .openings),
        Entry("write-bytes", .bytes, (1 << 20)...(1 << 34), at: \.writeBytes, .openings),
        Entry("uncommitted-bytes", .bytes, (1 << 20)...(1 << 40), at: \.uncommittedBytes, .openings),
        Entry("uncommitted-bytes-per-principal", .bytes, (1 << 20)...(1 << 40), at: \.uncommittedBytesPerPrincipal, .openings),
        Entry("import-seconds", .seconds, 1...3600, at: \.importSeconds),
        Entry("migration-rounds", .count, 1...(1 << 40), at: \.migrationRounds, .openings),
        Entry("request-seconds", .seconds, 1...3600, at: \.http.requestSeconds, .restart),
        Entry("head-seconds", .seconds, 1...3600, at: \.http.headSeconds, .restart),
        Entry("body-seconds", .seconds, 1...86_400, at: \.http.bodySeconds, .restart),
        Entry("body-rate", .count, 0...(1 << 30), at: \.http.bodyRate, .restart),
        Entry("idle-seconds", .seconds, 1...3600, at: \.http.idleSeconds, .restart),
        Entry("workers", .count, 1...1024, at: \.workers, .restart),
        Entry("workers-per-principal", .count, 1...1024, at: \.workersPerPrincipal, .restart),
        Entry("worker-queue", .count, 0...(1 << 20), at: \.workerQueue, .restart),
        Entry("worker-queue-per-principal", .count, 0...(1 << 20), at: \.workerQueuePerPrincipal, .restart),
        Entry("spool-files", .count, 0...(1 << 16), at: \.spool.files, .restart),
        Entry("spool-files-per-principal", .count, 0...(1 << 16), at: \.spool.filesPerClient, .restart),
        Entry("spool-bytes", .bytes, 0...(1 << 48), at: \.spool.bytes, .restart),
        Entry("spool-bytes-per-principal", .bytes, 0...(1 << 48), at: \.spool.bytesPerClient, .restart),
        Entry("spool-reserve-bytes", .bytes, 0...(1 << 48), at: \.spool.reservedBytes, .restart),
        Entry("ship-queue-bytes", .bytes, (1 << 16)...(1 << 36), at: \.shipQueueBytes, .restart),
        Entry("transactions-per-principal", .count, 1...10_000, at: \.transactionsPerPrincipal, .openings),
        Entry("transaction-idle-seconds", .seconds, 1...86_400, at: \.transactionIdleSeconds, .openings),
        Entry("transaction-seconds", .seconds, 1...86_400, at: \.transactionSeconds, .openings),
        Entry("snapshot-seconds", .seconds, 1...86_400, at: \.snapshotSeconds),
        Entry("metric-realms", .count, 0...(1 << 20), at: \.metricRealms, .restart),
        Entry("rate", .count, 0...(1 << 20), at: \.rate, .restart),
        Entry("snapshots", .count, 0...(1 << 16), at: \.snapshots),
        Entry("snapshots-per-principal", .count, 0...(1 << 16), at: \.snapshotsPerPrincipal),
        Entry("answer-cache-bytes", .bytes, 0...(1 << 34), at: \.answerCacheBytes, .restart),
        Entry("classes", .count, 1...50_000, at: \.classes, .openings),
        Entry("properties", .count, 1...60_000, at: \.properties, .openings),
        Entry("answer-bytes", .bytes, 1024...(1 << 40), at: \.answerBytes),
        Entry("unsent-bytes", .bytes, (1 << 20)...(1 << 40), at: \.http.unsentBytes, .restart),
        Entry("unsent-bytes-per-principal", .bytes, (1 << 20)...(1 << 40), at: \.http.unsentBytesPerPrincipal, .restart),
        Entry("waiting-bytes", .bytes, (1 << 20)...(1 << 40), at: \.waitingBytes, .restart),
        Entry("waiting-bytes-per-principal", .bytes, (1 << 20)...(1 << 40), at: \.waitingBytesPerPrincipal, .restart),
        Entry("expanded-objects", .count, 0...(1 << 40), at: \.expandedObjects),
        Entry("groups", .count, 1...(1 << 24), at: \.groups),
        Entry("facet-values", .count, 1...(1 << 20), at: \.facetValues),
        Entry("answer-seconds", .seconds, 1...86_400, at: \.http.answerSeconds, .restart),
        Entry("observation-seconds", .seconds, 1...3600, at: \.observationSeconds, .openings),
        Entry("token-bytes", .bytes, 256...(64 << 10), at: \.tokenBytes),
        Entry("token-cache-bytes", .bytes, 0...(1 << 34), at: \.tokenCacheBytes),
        Entry("token-verifications", .count, 1...(1 << 16), at: \.tokenVerifications),
        Entry("live-versions", .count, 2...(1 << 24), at: \.liveVersions),
    ]

    /// Sets one limit.
    ///
    /// - Parameter setting: Text of the form `NAME=VALUE`, with a decimal number.
    /// - Throws: `Rejection` for another form, an unknown name, or a value outside the range of the
    ///   limit.
    package mutating func apply(_ setting: String) throws(Rejection) {
        guard let equals = setting.firstIndex(of: "=") else {
            throw Rejection(text: "'\(setting)' is not of the form NAME=VALUE")
        }
        let name = String(setting[..<equals])
        guard let entry = Limits.entries.first(where: { $0.name == name }) else {
            let hint = Suggestion.hint(for: name, in: Limits.entries.map(\.name))
            let names = Limits.entries.map(\.name).sorted().joined(separator: ", ")
            throw Rejection(text: "there is no limit '\(name.truncated)'\(hint.isEmpty ? "; there are \(names)" : hint)")
        }
        try set(entry, String(setting[setting.index(after: equals)...]))
    }

    /// Sets a limit to the value that a text states.
    ///
    /// - Parameters:
    ///   - text: A decimal number. Times take a unit such as `5m`, numbers of bytes one such as
    ///     `64MiB`.
    /// - Throws: `Rejection` for a value of another form or outside the range of the limit.
    package mutating func set(_ entry: Entry, _ text: String) throws(Rejection) {
        let value: Int?
        switch entry.unit {
        case .seconds: value = Quantity.seconds(text)
        case .bytes: value = Quantity.bytes(text)
        case .count: value = Quantity.number(text[...])
        }
        guard let value, entry.range.contains(value) else {
            throw Rejection(
                text: "\(entry.name) takes a number from \(entry.range.lowerBound) to \(entry.range.upperBound)\(entry.unit.hint)"
            )
        }
        self[keyPath: entry.path] = value
    }

    /// The reason why a setting of a limit is rejected.
    package struct Rejection: Error, CustomStringConvertible {
        /// A sentence for the command line about the rejected setting, which suggests a similar name if there is one.
        package let text: String
        /// The sentence about the rejected setting.
        package var description: String { text }
    }
}
