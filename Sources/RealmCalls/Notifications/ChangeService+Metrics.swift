// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// The metrics of notifications, which `/metrics` reads.
extension ChangeService {
    /// Writes the metrics of notifications. The backlog of the observation hubs has one sample per realm, for any number of
    /// scopes of its subscribers.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let realms = realms
        let engine = realms.map { (name: $0.database.name.text, metrics: $0.hub.metrics) }
        text.gauge("streams", "Streams of events that are open.", realms.reduce(0) { $0 + $1.streamCount })
        text.gauge("waiting_polls", "Requests that wait for changes.", realms.reduce(0) { $0 + $1.pollCount })
        text.gauge("registrations", "Registrations of subscriptions.", registrations.count)
        text.gauge("observed_definitions", "Different definitions that are observed.", realms.reduce(0) { $0 + $1.feedCount })
        text.gauge(
            "observed_bytes", "Memory of observed definitions and their change sets.",
            max(0, ObservedMemory.shared.byteCount))
        text.counter(
            "targets_visited_total", "Checks of observed definitions because of a commit.",
            engine.reduce(metrics.pastVisits.load(ordering: .relaxed)) { $0 + Int($1.metrics.visited) })
        text.counter(
            "targets_passed_over_total", "Observed definitions that a commit could not affect.",
            engine.reduce(metrics.pastPasses.load(ordering: .relaxed)) { $0 + Int($1.metrics.passedOver) })
        text.counter(
            "evaluations_total", "Evaluations of observed definitions.",
            engine.reduce(metrics.pastEvaluations.load(ordering: .relaxed)) { $0 + Int($1.metrics.evaluations) })
        text.counter("encodings_total", "Change sets that were encoded.", metrics.encodings.load(ordering: .relaxed))
        text.counter(
            "resets_total", "Resets of subscriptions, by reason.", by: "reason",
            ResetNotice.Reason.allCases.map { ($0.rawValue, metrics.resets($0)) })
        text.counter(
            "replayed_sets_total", "Change sets delivered from memory to clients that resumed.",
            metrics.replayed.load(ordering: .relaxed))
        text.counter(
            "queue_overflows_total", "Resets of streams whose clients read too slowly.",
            metrics.overflows.load(ordering: .relaxed))
        guard !engine.isEmpty else { return }
        // Each scope of a realm has a hub, and the hubs of a realm wait for the same commits and keep the same versions.
        var lags: [ByteText: Int] = [:]
        var held: [ByteText: Set<UInt64>] = [:]
        for realm in engine {
            lags[realm.name] = max(lags[realm.name] ?? 0, realm.metrics.waitingCommits)
            held[realm.name, default: []].formUnion(realm.metrics.held)
        }
        text.header("notifier_lag_commits", .gauge, "Commits whose changes were not published yet.")
        for (name, lag) in lags.sorted(by: { $0.key < $1.key }) {
            text.sample("notifier_lag_commits", [("realm", name.text)], Double(lag))
        }
        text.header("notifier_held_versions", .gauge, "Versions kept for definitions without readers and for first evaluations.")
        for (name, versions) in held.sorted(by: { $0.key < $1.key }) {
            text.sample("notifier_held_versions", [("realm", name.text)], Double(versions.count))
        }
    }
}
