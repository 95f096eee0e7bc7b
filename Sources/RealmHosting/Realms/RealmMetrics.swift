// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The metrics of the realms of a server.
extension MetricsRegistry {
    /// Adds the metrics of the open realms, which are counted each time `/metrics` is requested.
    ///
    /// - Parameters:
    ///   - limit: The number of realms with their own metrics, the first by name. The text about thousands of realms would take
    ///     long to produce.
    package func addRealms(_ catalog: Catalog, limit: Int = .max) {
        add { [catalog] text in
            let ready = catalog.all.compactMap { entry -> RealmMetrics.Realm? in
                guard case .ready(let database) = entry.state else { return nil }
                return (entry.name, database)
            }
            text.gauge("realms", "Realms that are open.", ready.count)
            MetricsRegistry.write(.writers, "write", "apply writes", to: &text)
            MetricsRegistry.write(.observers, "observation", "compute notifications", to: &text)
            /// The open realms to write metrics about, by name.
            let realms = Array(ready.prefix(limit))
            guard !realms.isEmpty else { return }
            RealmMetrics(realms: realms).write(to: &text)
        }
    }

    /// Writes the numbers of threads and of waiting realms of the shared threads of one kind.
    private static func write(_ threads: SharedThreads, _ name: String, _ purpose: String, to text: inout MetricsText) {
        text.gauge("\(name)_threads", "Threads that \(purpose), shared by all realms.", threads.threadCount)
        text.gauge("\(name)_threads_waiting", "Realms that wait for a thread to \(purpose).", threads.waitingCount)
    }
}

/// Writes the metrics that have the name of a realm as their label.
private struct RealmMetrics {
    /// An open realm and its name in the catalog.
    typealias Realm = (name: String, database: Database)

    /// The realms to write about, by name.
    let realms: [Realm]

    /// Writes the metrics of the realms, each with one sample per realm.
    func write(to text: inout MetricsText) {
        each("pending_writes", help: "Writes that are not answered yet.", to: &text) { Double($0.pendingWrites) }
        each("live_versions", help: "Versions that are being read.", to: &text) { Double($0.liveVersions) }
        each("oldest_pinned_seconds", help: "Age of the oldest version in use except the newest.", to: &text) {
            $0.oldestPinned.inSeconds
        }
        each("open_transactions", help: "Interactive transactions that hold the writer.", to: &text) {
            $0.openTransaction == nil ? 0 : 1
        }
        each("file_bytes", help: "Size of the file.", to: &text) { Double($0.current.snapshot.file.fileByteCount) }
        each("used_bytes", help: "Bytes of the file that are not free.", to: &text) { $0.usedBytes.map(Double.init) }
        each("former_versions", help: "Versions before the newest that can be read.", to: &text) {
            $0.retention.keepsAny ? Double($0.formerVersions.count) : nil
        }
        each("former_versions_bytes", help: "Bytes of the file that are kept for former versions.", to: &text) {
            $0.retention.keepsAny ? Double($0.formerByteCount) : nil
        }
        each("former_versions_dropped", help: "Former versions that were dropped early for want of room.", to: &text) {
            $0.retention.keepsAny ? Double($0.droppedVersionCount) : nil
        }
        each("version", help: "Number of the newest version.", to: &text) { Double($0.current.token.version) }
        each("follow_versions", help: "States of a followed file that were applied.", to: &text) {
            $0.following.map { Double($0.versions) }
        }
        each("follow_copied_bytes", help: "Bytes copied from a followed file.", to: &text) {
            $0.following.map { Double($0.copiedBytes) }
        }
        each("follow_failures", help: "Failed checks of a followed file.", to: &text) {
            $0.following.map { Double($0.failures) }
        }
        each("follow_behind_seconds", help: "Age of a known change of a followed file that is not applied.", to: &text) {
            $0.following?.behind.inSeconds
        }
        let counts = realms.map { ($0.name, $0.database.writeMetrics.counts) }
        text.counter("commits_total", "Commits that made a version.", by: "realm", counts.map { ($0, $1.commits) })
        histogram(
            "write_lock_wait_seconds", help: "Time that writes waited for the writer.", of: counts.map { ($0, $1.waits) },
            to: &text)
        histogram(
            "write_lock_hold_seconds", help: "Time that the writer was held.", of: counts.map { ($0, $1.holds) }, to: &text)
    }

    /// Writes one gauge with a sample for each realm that has a value.
    private func each(
        _ name: String, help: String, to text: inout MetricsText, _ value: (Database) -> Double?
    ) {
        text.header(name, .gauge, help)
        for realm in realms {
            guard let value = value(realm.database) else { continue }
            text.sample(name, [("realm", realm.name)], value)
        }
    }

    /// Writes one histogram per realm. Times are in seconds.
    private func histogram(
        _ name: String, help: String, of counts: [(String, WriteMetrics.Histogram)], to text: inout MetricsText
    ) {
        text.header(name, .histogram, help)
        for (realm, histogram) in counts {
            text.histogram(
                name, [("realm", realm)], bounds: WriteMetrics.Histogram.bounds, counts: histogram.counts, sum: histogram.seconds)
        }
    }
}
