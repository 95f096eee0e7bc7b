// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// All configurable limits of the server, with their defaults.
///
/// The command line changes them with `--limit NAME=VALUE`, by the names in `entries`; a
/// reload of the configuration those that `Entry.takesEffect` says. Byte limits count bytes, times are in seconds unless the name says
/// otherwise, and names that end in `PerPrincipal` apply to one client. docs/limits.md states what
/// happens beyond each.
package struct Limits: Sendable, Equatable {
    /// The limits for connections, heads and sending.
    package var http = HTTPLimits()
    /// The limits of bodies in temporary files.
    package var spool = SpoolRoom.Bounds()
    /// The maximum number of bytes of a body other than an import, before and after decompression;
    /// beyond it the status is 413.
    package var bodyBytes = 8 << 20
    /// The maximum number of bytes of the body of an import, before and after decompression.
    package var importBytes = 1 << 30
    /// The maximum number of bytes of one line of an import.
    package var importRecordBytes = 24 << 20
    /// The maximum number of operations of a batch.
    package var batchOperations = 10_000
    /// The maximum depth of nested arrays and objects in the JSON of a body.
    package var jsonDepth = 64
    /// The maximum number of values in one JSON document, or in one line of an import.
    package var jsonValues = 400_000
    /// The maximum number of bytes of the text of a query.
    package var queryBytes = 256 << 10
    /// The maximum number of arguments of a query.
    package var queryArgs = 1000
    /// The maximum number of terms in each of `sort`, `distinct` and `ops`.
    package var queryTerms = 100
    /// The maximum memory in bytes for what one write changes; imports are exempt.
    package var writeBytes = WriteLimits().writeBytes
    /// The maximum memory in bytes for what uncommitted writes of all realms change. The largest may go on.
    package var uncommittedBytes = WriteLimits().uncommittedBytes
    /// The maximum memory in bytes for what uncommitted writes of one client change in all realms, with the same exception.
    package var uncommittedBytesPerPrincipal = WriteLimits().uncommittedBytesPerClient
    /// The maximum number of rounds that the loops of one migration may make together.
    package var migrationRounds = WriteLimits().migrationRounds
    /// The maximum number of values that one query may keep in order to sort rows or to find
    /// distinct ones.
    package var sortedValues = 2_000_000
    /// The maximum number of paths in each of `fields`, `expand` and `keyPaths`.
    package var fields = 1000
    /// The maximum number of items on a page, and of positions in `at`.
    package var page = 1000
    /// The maximum number of realms: open, being opened or failed. Fewer are possible where the
    /// system allows few open files.
    package var realms = 2000
    /// The maximum number of streams and waiting polls of the server.
    package var streams = 500
    /// The maximum number of streams and waiting polls of one client.
    package var streamsPerPrincipal = 20
    /// The maximum number of registrations of subscriptions that one client may have.
    package var registrations = 100
    /// The maximum number of subscriptions in one registration.
    package var registrationNames = 50
    /// The time in seconds after which a registration without a reader expires.
    package var registrationSeconds = 60
    /// The maximum number of change sets that a stream may be behind before it is reset.
    package var queueEvents = 256
    /// The maximum number of bytes of change sets that a stream may be behind before it is reset.
    package var queueBytes = 1 << 20
    /// The maximum number of observed definitions of all realms that are kept although no client reads them.
    package var idleDefinitions = 500
    /// The maximum memory in bytes of the observed definitions of all clients, with their queries and arguments, and the change sets
    /// that are kept of them.
    package var observedBytes = 128 << 20
    /// The maximum memory in bytes of the definitions that one client observes.
    package var observedBytesPerPrincipal = 64 << 20
    /// The maximum number of change sets that are kept for clients that resume, of each definition.
    package var retentionSets = 1000
    /// The maximum number of bytes of change sets that are kept for clients that resume, of each
    /// definition.
    package var retentionBytes = 16 << 20
    /// The time in seconds for which a definition that no client reads is kept.
    package var retentionSeconds = 300
    /// The time in seconds that the work on one response may take, or on one piece of a stream.
    package var readSeconds = 10
    /// The time in seconds that a write may take, including its wait for the writer.
    package var writeSeconds = 5
    /// The time in seconds for which one commit of an import may hold the writer.
    package var importSeconds = 60
    /// The maximum number of worker threads for longer work. They are started when they are needed.
    package var workers = max(8, 4 * Threads.processorCount)
    /// The maximum number of workers that one client may occupy at a time.
    package var workersPerPrincipal = max(2, Threads.processorCount)
    /// The maximum number of requests that may wait for a worker.
    package var workerQueue = 512
    /// The maximum number of requests of one client that may wait for a worker.
    package var workerQueuePerPrincipal = 256
    /// The number of bytes of commits that may wait in memory until they are shipped.
    package var shipQueueBytes = 64 << 20
    /// The maximum number of interactive transactions of one client in one realm: the open one and
    /// those that wait.
    package var transactionsPerPrincipal = WriteLimits().transactionsPerClient
    /// The time in seconds after which an unused interactive transaction ends.
    package var transactionIdleSeconds = 5
    /// The time in seconds after which an interactive transaction ends in any case.
    package var transactionSeconds = 30
    /// The longest time to live in seconds of a snapshot lease.
    package var snapshotSeconds = 600
    /// The maximum number of realms that have metrics of their own; the others are only counted.
    package var metricRealms = 200
    /// The maximum number of requests per second that one client may send; 0 switches this limit
    /// off.
    package var rate = 0
    /// The maximum number of snapshot leases of one realm.
    package var snapshots = 16
    /// The maximum number of snapshot leases of one client.
    package var snapshotsPerPrincipal = 8
    /// The maximum number of live versions of a realm, beyond which its oldest snapshot leases are
    /// ended.
    package var liveVersions = 1000
    /// The maximum number of classes of a realm, beyond which none are added. A file that has more
    /// is served.
    package var classes = WriteLimits().classes
    /// The maximum number of properties of a class, beyond which none are added.
    package var properties = WriteLimits().properties
    /// The maximum number of bytes of a document, or of one row of a stream.
    package var answerBytes = 64 << 20
    /// The maximum number of bytes of bodies of the whole server that are being received, parsed or
    /// waiting for the writer, with the values parsed from them.
    package var waitingBytes = 512 << 20
    /// The maximum number of bytes of bodies of one client that are being received, parsed or
    /// waiting, with the values parsed from them.
    package var waitingBytesPerPrincipal = 256 << 20
    /// The maximum number of objects that `expand` puts in the place of links, in one document or
    /// one row of a stream.
    package var expandedObjects = 100_000
    /// The maximum number of groups, or of values of a facet, that one result may have.
    package var groups = 100_000
    /// The maximum number of values that a response shows of each facet.
    package var facetValues = 100
    /// The time in seconds that one evaluation of an observed definition may take before its
    /// subscriptions fail.
    package var observationSeconds = 10
    /// The time in seconds for which an ended snapshot lease is answered with `snapshot_expired`
    /// instead of `not_found`. It cannot be set on the command line.
    package var rememberedSeconds = 600
    /// The maximum memory in bytes for responses that are kept because they may be requested again;
    /// 0 keeps none.
    package var answerCacheBytes = 32 << 20
    /// The maximum number of bytes of a JSON Web Token.
    package var tokenBytes = 8 << 10
    /// The maximum memory in bytes for JSON Web Tokens that were verified and may come again; 0
    /// keeps none.
    package var tokenCacheBytes = 16 << 20
    /// The maximum number of JSON Web Tokens that may be verified at a time.
    package var tokenVerifications = 256

    /// Makes the default limits.
    package init() {}

    /// Makes a work budget for one document that is produced outside the time of its request, such
    /// as a change set.
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
        /// The values that the limit may take.
        package let range: ClosedRange<Int>
        /// The property of `Limits` that has the value of the limit.
        package let path: any WritableKeyPath<Limits, Int> & Sendable

        /// When another value is in force after a reload of the configuration.
        package var takesEffect: SettingEffect {
            if Limits.namesOfRealms.contains(name) { return .openings }
            return Limits.namesOfListeners.contains(name) ? .restart : .now
        }

        /// What the limit counts, which follows from its name.
        var unit: Unit {
            if name.hasSuffix("-seconds") || name == "heartbeat" { return .seconds }
            return name.hasSuffix("bytes") || name.hasSuffix("bytes-per-principal") ? .bytes : .count
        }
    }

    /// The names of the limits that a realm takes over when it is opened.
    private static let namesOfRealms: Set<ByteText> = [
        "write-seconds", "write-bytes", "uncommitted-bytes", "uncommitted-bytes-per-principal", "migration-rounds",
        "transactions-per-principal", "transaction-idle-seconds", "transaction-seconds", "classes", "properties",
        "observation-seconds",
    ]

    /// The names of the limits by which listeners, threads and memory are set up when the server starts.
    private static let namesOfListeners: Set<ByteText> = [
        "target-bytes", "header-bytes", "header-fields", "realms", "connections", "connections-per-address",
        "admin-connections", "heartbeat", "stall-seconds", "stream-seconds", "request-seconds", "head-seconds", "body-seconds",
        "body-rate", "idle-seconds", "workers", "workers-per-principal", "worker-queue", "worker-queue-per-principal",
        "ship-queue-bytes", "spool-files", "spool-files-per-principal", "spool-bytes", "spool-bytes-per-principal",
        "spool-reserve-bytes",
        "metric-realms", "rate", "answer-cache-bytes", "unsent-bytes", "unsent-bytes-per-principal", "waiting-bytes",
        "waiting-bytes-per-principal", "answer-seconds",
    ]

    /// What a limit counts.
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
        Entry(name: "target-bytes", range: 64...(64 << 10), path: \.http.targetBytes),
        Entry(name: "header-bytes", range: 256...(256 << 10), path: \.http.headerBytes),
        Entry(name: "header-fields", range: 4...1000, path: \.http.headerFields),
        Entry(name: "body-bytes", range: 0...(1 << 32), path: \.bodyBytes),
        Entry(name: "import-bytes", range: 0...(1 << 48), path: \.importBytes),
        Entry(name: "import-record-bytes", range: 1...(1 << 32), path: \.importRecordBytes),
        Entry(name: "batch-operations", range: 0...(1 << 24), path: \.batchOperations),
        Entry(name: "json-depth", range: 4...1000, path: \.jsonDepth),
        Entry(name: "json-values", range: 100...(1 << 32), path: \.jsonValues),
        Entry(name: "query-bytes", range: 1...(1 << 20), path: \.queryBytes),
        Entry(name: "query-args", range: 0...(1 << 20), path: \.queryArgs),
        Entry(name: "query-terms", range: 1...1000, path: \.queryTerms),
        Entry(name: "sorted-values", range: 1000...(1 << 40), path: \.sortedValues),
        Entry(name: "fields", range: 1...(1 << 16), path: \.fields),
        Entry(name: "page", range: 1...(1 << 20), path: \.page),
        Entry(name: "realms", range: 1...(1 << 20), path: \.realms),
        Entry(name: "connections", range: 1...(1 << 20), path: \.http.connections),
        Entry(name: "connections-per-address", range: 1...(1 << 20), path: \.http.connectionsPerAddress),
        Entry(name: "admin-connections", range: 1...(1 << 16), path: \.http.adminConnections),
        Entry(name: "streams", range: 0...(1 << 20), path: \.streams),
        Entry(name: "streams-per-principal", range: 0...(1 << 20), path: \.streamsPerPrincipal),
        Entry(name: "registrations", range: 0...(1 << 20), path: \.registrations),
        Entry(name: "registration-names", range: 1...(1 << 16), path: \.registrationNames),
        Entry(name: "registration-seconds", range: 1...86_400, path: \.registrationSeconds),
        Entry(name: "heartbeat", range: 5...60, path: \.http.heartbeat),
        Entry(name: "queue-events", range: 1...(1 << 20), path: \.queueEvents),
        Entry(name: "queue-bytes", range: 1024...(1 << 30), path: \.queueBytes),
        Entry(name: "stall-seconds", range: 1...86_400, path: \.http.stallSeconds),
        Entry(name: "stream-seconds", range: 10...86_400, path: \.http.streamSeconds),
        Entry(name: "idle-definitions", range: 0...(1 << 20), path: \.idleDefinitions),
        Entry(name: "observed-bytes", range: (1 << 20)...(1 << 40), path: \.observedBytes),
        Entry(name: "observed-bytes-per-principal", range: (1 << 20)...(1 << 40), path: \.observedBytesPerPrincipal),
        Entry(name: "retention-sets", range: 0...(1 << 24), path: \.retentionSets),
        Entry(name: "retention-bytes", range: 0...(1 << 34), path: \.retentionBytes),
        Entry(name: "retention-seconds", range: 0...86_400, path: \.retentionSeconds),
        Entry(name: "read-seconds", range: 1...3600, path: \.readSeconds),
        Entry(name: "write-seconds", range: 1...3600, path: \.writeSeconds),
        Entry(name: "write-bytes", range: (1 << 20)...(1 << 34), path: \.writeBytes),
        Entry(name: "uncommitted-bytes", range: (1 << 20)...(1 << 40), path: \.uncommittedBytes),
        Entry(name: "uncommitted-bytes-per-principal", range: (1 << 20)...(1 << 40), path: \.uncommittedBytesPerPrincipal),
        Entry(name: "import-seconds", range: 1...3600, path: \.importSeconds),
        Entry(name: "migration-rounds", range: 1...(1 << 40), path: \.migrationRounds),
        Entry(name: "request-seconds", range: 1...3600, path: \.http.requestSeconds),
        Entry(name: "head-seconds", range: 1...3600, path: \.http.headSeconds),
        Entry(name: "body-seconds", range: 1...86_400, path: \.http.bodySeconds),
        Entry(name: "body-rate", range: 0...(1 << 30), path: \.http.bodyRate),
        Entry(name: "idle-seconds", range: 1...3600, path: \.http.idleSeconds),
        Entry(name: "workers", range: 1...1024, path: \.workers),
        Entry(name: "workers-per-principal", range: 1...1024, path: \.workersPerPrincipal),
        Entry(name: "worker-queue", range: 0...(1 << 20), path: \.workerQueue),
        Entry(name: "worker-queue-per-principal", range: 0...(1 << 20), path: \.workerQueuePerPrincipal),
        Entry(name: "spool-files", range: 0...(1 << 16), path: \.spool.files),
        Entry(name: "spool-files-per-principal", range: 0...(1 << 16), path: \.spool.filesPerClient),
        Entry(name: "spool-bytes", range: 0...(1 << 48), path: \.spool.bytes),
        Entry(name: "spool-bytes-per-principal", range: 0...(1 << 48), path: \.spool.bytesPerClient),
        Entry(name: "spool-reserve-bytes", range: 0...(1 << 48), path: \.spool.reservedBytes),
        Entry(name: "ship-queue-bytes", range: (1 << 16)...(1 << 36), path: \.shipQueueBytes),
        Entry(name: "transactions-per-principal", range: 1...10_000, path: \.transactionsPerPrincipal),
        Entry(name: "transaction-idle-seconds", range: 1...86_400, path: \.transactionIdleSeconds),
        Entry(name: "transaction-seconds", range: 1...86_400, path: \.transactionSeconds),
        Entry(name: "snapshot-seconds", range: 1...86_400, path: \.snapshotSeconds),
        Entry(name: "metric-realms", range: 0...(1 << 20), path: \.metricRealms),
        Entry(name: "rate", range: 0...(1 << 20), path: \.rate),
        Entry(name: "snapshots", range: 0...(1 << 16), path: \.snapshots),
        Entry(name: "snapshots-per-principal", range: 0...(1 << 16), path: \.snapshotsPerPrincipal),
        Entry(name: "answer-cache-bytes", range: 0...(1 << 34), path: \.answerCacheBytes),
        Entry(name: "classes", range: 1...50_000, path: \.classes),
        Entry(name: "properties", range: 1...60_000, path: \.properties),
        Entry(name: "answer-bytes", range: 1024...(1 << 40), path: \.answerBytes),
        Entry(name: "unsent-bytes", range: (1 << 20)...(1 << 40), path: \.http.unsentBytes),
        Entry(name: "unsent-bytes-per-principal", range: (1 << 20)...(1 << 40), path: \.http.unsentBytesPerPrincipal),
        Entry(name: "waiting-bytes", range: (1 << 20)...(1 << 40), path: \.waitingBytes),
        Entry(name: "waiting-bytes-per-principal", range: (1 << 20)...(1 << 40), path: \.waitingBytesPerPrincipal),
        Entry(name: "expanded-objects", range: 0...(1 << 40), path: \.expandedObjects),
        Entry(name: "groups", range: 1...(1 << 24), path: \.groups),
        Entry(name: "facet-values", range: 1...(1 << 20), path: \.facetValues),
        Entry(name: "answer-seconds", range: 1...86_400, path: \.http.answerSeconds),
        Entry(name: "observation-seconds", range: 1...3600, path: \.observationSeconds),
        Entry(name: "token-bytes", range: 256...(64 << 10), path: \.tokenBytes),
        Entry(name: "token-cache-bytes", range: 0...(1 << 34), path: \.tokenCacheBytes),
        Entry(name: "token-verifications", range: 1...(1 << 16), path: \.tokenVerifications),
        Entry(name: "live-versions", range: 2...(1 << 24), path: \.liveVersions),
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
            throw Rejection(text: "there is no limit '\(name.brief)'\(hint.isEmpty ? "; there are \(names)" : hint)")
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

    /// Why a setting of a limit is rejected.
    package struct Rejection: Error, CustomStringConvertible {
        /// A sentence for the command line about the rejected setting, which suggests a similar
        /// name if there is one.
        package let text: String
        /// The sentence about the rejected setting.
        package var description: String { text }
    }
}
