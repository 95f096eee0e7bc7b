// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// The metrics of notifications, which `/metrics` reads.
extension ChangeService {
    /// Writes the metrics of notifications. What waits in the observation hubs has one sample per realm, whatever the number of scopes of
    /// its subscribers.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let realms = realms
        let engine = realms.map { (name: $0.database.name.text, metrics: $0.hub.metrics) }
        text.single(
            "streams", .gauge, help: "Streams of events that are open.", value: Double(realms.reduce(0) { $0 + $1.streamCount }))
        text.single(
            "waiting_polls", .gauge, help: "Requests that wait for changes.",
            value: Double(realms.reduce(0) { $0 + $1.pollCount }))
        text.single("registrations", .gauge, help: "Registrations of subscriptions.", value: Double(registrations.count))
        text.single(
            "observed_definitions", .gauge, help: "Different definitions that are observed.",
            value: Double(realms.reduce(0) { $0 + $1.feedCount }))
        text.single(
            "observed_bytes", .gauge, help: "Memory of observed definitions and of the change sets that are kept of them.",
            value: Double(max(0, ObservedMemory.shared.byteCount)))
        text.single(
            "targets_visited_total", .counter, help: "Times that an observed definition was looked at because of a commit.",
            value: Double(engine.reduce(metrics.pastVisits.load(ordering: .relaxed)) { $0 + Int($1.metrics.visited) }))
        text.single(
            "targets_passed_over_total", .counter, help: "Times that a commit could not concern an observed definition.",
            value: Double(engine.reduce(metrics.pastPasses.load(ordering: .relaxed)) { $0 + Int($1.metrics.passedOver) }))
        text.single(
            "evaluations_total", .counter, help: "Times that an observed definition was evaluated.",
            value: Double(engine.reduce(metrics.pastEvaluations.load(ordering: .relaxed)) { $0 + Int($1.metrics.evaluations) }))
        text.single(
            "encodings_total", .counter, help: "Change sets that were encoded.",
            value: Double(metrics.encodings.load(ordering: .relaxed)))
        text.header("resets_total", .counter, "Times that subscriptions had to start anew, by reason.")
        for reason in ResetNotice.Reason.allCases {
            text.sample("resets_total", [("reason", reason.rawValue)], Double(metrics.resets(reason)))
        }
        text.single(
            "replayed_sets_total", .counter, help: "Change sets delivered from memory to clients that resumed.",
            value: Double(metrics.replayed.load(ordering: .relaxed)))
        text.single(
            "queue_overflows_total", .counter, help: "Times that a stream was reset because its client read too slowly.",
            value: Double(metrics.overflows.load(ordering: .relaxed)))
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
