// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

/// Every bound of the server that can be configured, with its default.
package struct Limits: Sendable {
    package var targetBytes = 8 << 10
    package var headerBytes = 16 << 10
    package var headerFields = 100
    package var bodyBytes = 8 << 20
    package var importBytes = 1 << 30
    /// One line of an import.
    package var importRecordBytes = 24 << 20
    package var batchOperations = 10_000
    package var jsonDepth = 64
    /// Values in one JSON document, or in one line of an import.
    package var jsonValues = 400_000
    package var queryBytes = 16 << 10
    package var queryArgs = 1000
    /// Terms of `sort`, of `distinct`, of `ops` and of `keyPaths`.
    package var queryTerms = 100
    /// Memory for what one write changes, imports aside.
    package var writeBytes = WriteLimits().writeBytes
    /// Values that one query keeps to sort rows by, or to tell them apart by.
    package var sortedValues = 2_000_000
    /// Paths of `fields` and of `expand`.
    package var fields = 1000
    package var page = 1000
    /// Realms that are served, being opened or failed to be; fewer where the system allows few open files.
    package var realms = 2000
    package var connections = 1000
    package var connectionsPerAddress = 100
    /// Connections of the administrators' listener.
    package var adminConnections = 32
    package var streams = 500
    package var streamsPerPrincipal = 20
    package var registrations = 100
    package var registrationNames = 50
    package var registrationSeconds = 60
    package var heartbeat = 15
    package var queueEvents = 256
    package var queueBytes = 1 << 20
    package var stallSeconds = 300
    /// Age at which streams end, more or less.
    package var streamSeconds = 1800
    /// Definitions that are kept although nobody reads them.
    package var idleDefinitions = 500
    package var retentionSets = 1000
    package var retentionBytes = 16 << 20
    package var retentionSeconds = 300
    package var readSeconds = 10
    package var writeSeconds = 5
    package var requestSeconds = 10
    /// For the first byte of a connection's first request.
    package var headSeconds = 5
    /// For a whole body, however long it is.
    package var bodySeconds = 3600
    /// Bytes per second that a body has to come at, on average, once it took longer than `requestSeconds`.
    package var bodyRate = 1024
    package var idleSeconds = 75
    /// Threads for what takes longer; they are made when they are needed.
    package var workers = max(8, 4 * Threads.processorCount)
    /// How many of them one client may have at a time.
    package var workersPerPrincipal = max(2, Threads.processorCount)
    /// Requests that wait for a worker.
    package var workerQueue = 512
    package var workerQueuePerPrincipal = 256
    /// Bodies that are kept in files while they come and are worked on.
    package var spoolFiles = 64
    package var spoolFilesPerPrincipal = 16
    package var spoolBytes = 8 << 30
    package var spoolBytesPerPrincipal = 4 << 30
    /// What such files leave free on their disk, but at most a sixteenth of it.
    package var spoolReserveBytes = 256 << 20
    /// Interactive transactions of one client in one realm, the open one and those that wait.
    package var transactionsPerPrincipal = WriteLimits().transactionsPerClient
    /// An interactive transaction that nobody uses ends after this.
    package var transactionIdleSeconds = 5
    /// An interactive transaction ends after this whatever happens.
    package var transactionSeconds = 30
    /// The longest lease of a snapshot.
    package var snapshotSeconds = 600
    /// Realms that have metrics of their own.
    package var metricRealms = 200
    /// Requests per second and client; 0 is off.
    package var rate = 0
    package var snapshots = 16
    package var snapshotsPerPrincipal = 8
    package var liveVersions = 1000
    /// Classes of a realm, and properties of a class, beyond which none are added.
    package var classes = WriteLimits().classes
    package var properties = WriteLimits().properties
    /// Bytes of a document, or of one row of a stream.
    package var answerBytes = 64 << 20
    /// Bytes of answers that clients have not taken yet, of the whole server.
    package var unsentBytes = 256 << 20
    /// The same of one client.
    package var unsentBytesPerPrincipal = 192 << 20
    /// Bytes of bodies that are received, parsed or waiting, with what they become when they are parsed.
    package var waitingBytes = 512 << 20
    package var waitingBytesPerPrincipal = 256 << 20
    /// Objects that one document, or one row of a stream, shows in the place of links.
    package var expandedObjects = 100_000
    /// How long a streamed answer may take, which holds its version; a client that reads slowly is cut off then.
    package var answerSeconds = 3600
    /// How long one observed definition is evaluated at once before its subscriptions fail.
    package var observationSeconds = 10
    /// How long snapshots that have ended are told from such as never were. Not for the command line.
    package var rememberedSeconds = 600
    /// Memory for answers that may be asked for again; 0 keeps none.
    package var answerCacheBytes = 32 << 20

    package init() {}

    /// For those who work for themselves: tools on the command line.
    package static let boundless: Limits = {
        var limits = Limits()
        limits.readSeconds = Int(Int32.max)
        return limits
    }()

    /// What one document may cost that is made outside the time of its request.
    package func budgetOfDocument() -> WorkBudget {
        let budget = WorkBudget(deadline: Instant.now().adding(seconds: Double(readSeconds)))
        budget.byteLimit = answerBytes
        budget.objectLimit = expandedObjects
        return budget
    }

    /// A bound by the name it has on the command line, with the values it may take.
    package struct Entry: Sendable {
        package let name: String
        package let range: ClosedRange<Int>
        let path: any WritableKeyPath<Limits, Int> & Sendable
    }

    package static let entries: [Entry] = [
        Entry(name: "target-bytes", range: 64...(64 << 10), path: \.targetBytes),
        Entry(name: "header-bytes", range: 256...(256 << 10), path: \.headerBytes),
        Entry(name: "header-fields", range: 4...1000, path: \.headerFields),
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
        Entry(name: "connections", range: 1...(1 << 20), path: \.connections),
        Entry(name: "connections-per-address", range: 1...(1 << 20), path: \.connectionsPerAddress),
        Entry(name: "admin-connections", range: 1...(1 << 16), path: \.adminConnections),
        Entry(name: "streams", range: 0...(1 << 20), path: \.streams),
        Entry(name: "streams-per-principal", range: 0...(1 << 20), path: \.streamsPerPrincipal),
        Entry(name: "registrations", range: 0...(1 << 20), path: \.registrations),
        Entry(name: "registration-names", range: 1...(1 << 16), path: \.registrationNames),
        Entry(name: "registration-seconds", range: 1...86_400, path: \.registrationSeconds),
        Entry(name: "heartbeat", range: 5...60, path: \.heartbeat),
        Entry(name: "queue-events", range: 1...(1 << 20), path: \.queueEvents),
        Entry(name: "queue-bytes", range: 1024...(1 << 30), path: \.queueBytes),
        Entry(name: "stall-seconds", range: 1...86_400, path: \.stallSeconds),
        Entry(name: "stream-seconds", range: 10...86_400, path: \.streamSeconds),
        Entry(name: "idle-definitions", range: 0...(1 << 20), path: \.idleDefinitions),
        Entry(name: "retention-sets", range: 0...(1 << 24), path: \.retentionSets),
        Entry(name: "retention-bytes", range: 0...(1 << 34), path: \.retentionBytes),
        Entry(name: "retention-seconds", range: 0...86_400, path: \.retentionSeconds),
        Entry(name: "read-seconds", range: 1...3600, path: \.readSeconds),
        Entry(name: "write-seconds", range: 1...3600, path: \.writeSeconds),
        Entry(name: "write-bytes", range: (1 << 20)...(1 << 34), path: \.writeBytes),
        Entry(name: "request-seconds", range: 1...3600, path: \.requestSeconds),
        Entry(name: "head-seconds", range: 1...3600, path: \.headSeconds),
        Entry(name: "body-seconds", range: 1...86_400, path: \.bodySeconds),
        Entry(name: "body-rate", range: 0...(1 << 30), path: \.bodyRate),
        Entry(name: "idle-seconds", range: 1...3600, path: \.idleSeconds),
        Entry(name: "workers", range: 1...1024, path: \.workers),
        Entry(name: "workers-per-principal", range: 1...1024, path: \.workersPerPrincipal),
        Entry(name: "worker-queue", range: 0...(1 << 20), path: \.workerQueue),
        Entry(name: "worker-queue-per-principal", range: 0...(1 << 20), path: \.workerQueuePerPrincipal),
        Entry(name: "spool-files", range: 0...(1 << 16), path: \.spoolFiles),
        Entry(name: "spool-files-per-principal", range: 0...(1 << 16), path: \.spoolFilesPerPrincipal),
        Entry(name: "spool-bytes", range: 0...(1 << 48), path: \.spoolBytes),
        Entry(name: "spool-bytes-per-principal", range: 0...(1 << 48), path: \.spoolBytesPerPrincipal),
        Entry(name: "spool-reserve-bytes", range: 0...(1 << 48), path: \.spoolReserveBytes),
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
        Entry(name: "unsent-bytes", range: (1 << 20)...(1 << 40), path: \.unsentBytes),
        Entry(name: "unsent-bytes-per-principal", range: (1 << 20)...(1 << 40), path: \.unsentBytesPerPrincipal),
        Entry(name: "waiting-bytes", range: (1 << 20)...(1 << 40), path: \.waitingBytes),
        Entry(name: "waiting-bytes-per-principal", range: (1 << 20)...(1 << 40), path: \.waitingBytesPerPrincipal),
        Entry(name: "expanded-objects", range: 0...(1 << 40), path: \.expandedObjects),
        Entry(name: "answer-seconds", range: 1...86_400, path: \.answerSeconds),
        Entry(name: "observation-seconds", range: 1...3600, path: \.observationSeconds),
        Entry(name: "live-versions", range: 2...(1 << 24), path: \.liveVersions),
    ]

    /// Applies `NAME=VALUE`; the error is a sentence for the command line.
    package mutating func apply(_ setting: String) throws(Rejection) {
        guard let equals = setting.firstIndex(of: "=") else {
            throw Rejection(text: "'\(setting)' is not of the form NAME=VALUE")
        }
        let name = String(setting[..<equals])
        guard let entry = Limits.entries.first(where: { $0.name == name }) else {
            let hint = Spelling.nearest(to: name, in: Limits.entries.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
            throw Rejection(text: "there is no limit '\(name)'\(hint)")
        }
        guard let value = Int(setting[setting.index(after: equals)...]), entry.range.contains(value) else {
            throw Rejection(
                text: "\(name) takes a number from \(entry.range.lowerBound) to \(entry.range.upperBound)")
        }
        self[keyPath: entry.path] = value
    }

    package struct Rejection: Error, CustomStringConvertible {
        package let text: String
        package var description: String { text }
    }
}
