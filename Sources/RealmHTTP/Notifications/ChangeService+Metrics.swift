// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import Synchronization

extension ChangeService {
    /// What is known of notifications; counted when somebody asks.
    func write(to text: inout MetricsText) {
        let realms = realms
        let engine = realms.map { (name: $0.database.name.text, metrics: $0.database.observations.metrics) }
        text.single(
            "streams", .gauge, help: "Streams of events that are open.", value: Double(realms.reduce(0) { $0 + $1.streamCount }))
        text.single(
            "waiting_polls", .gauge, help: "Requests that wait for changes.",
            value: Double(realms.reduce(0) { $0 + $1.pollCount }))
        text.single("registrations", .gauge, help: "Registrations of subscriptions.", value: Double(registrations.count))
        text.single(
            "observed_definitions", .gauge, help: "Different subscriptions that are observed.",
            value: Double(realms.reduce(0) { $0 + $1.feedCount }))
        text.single(
            "evaluations_total", .counter, help: "Times that an observed definition was evaluated.",
            value: Double(engine.reduce(metrics.pastEvaluations.load(ordering: .relaxed)) { $0 + Int($1.metrics.evaluations) }))
        text.single(
            "encodings_total", .counter, help: "Change sets that were written.",
            value: Double(metrics.encodings.load(ordering: .relaxed)))
        text.header("resets_total", .counter, "Subscriptions that had to begin anew, by reason.")
        for reason in ResetNotice.Reason.allCases {
            text.sample("resets_total", [("reason", reason.rawValue)], Double(metrics.resets(reason)))
        }
        text.single(
            "replayed_sets_total", .counter, help: "Change sets that were told from memory to clients that came back.",
            value: Double(metrics.replayed.load(ordering: .relaxed)))
        text.single(
            "queue_overflows_total", .counter, help: "Streams whose client did not keep up.",
            value: Double(metrics.overflows.load(ordering: .relaxed)))
        guard !engine.isEmpty else { return }
        text.header("notifier_lag_commits", .gauge, "Commits that observers have not been told of yet.")
        for realm in engine { text.sample("notifier_lag_commits", [("realm", realm.name)], Double(realm.metrics.waitingCommits)) }
        text.header("notifier_held_versions", .gauge, "Versions kept for definitions that nobody reads now.")
        for realm in engine { text.sample("notifier_held_versions", [("realm", realm.name)], Double(realm.metrics.heldVersions)) }
    }
}
