// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage
internal import Synchronization

extension ClusterService {
    /// Writes what has happened since the start, and how this node stands.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let map = member.map
        let member = member.counts
        let bases = keeper.counts
        let open = realms.counts
        let replicas = follower.totals
        let rows: [(String, MetricsText.Kind, String, Int)] = [
            ("cluster_shards", .gauge, "Shards of this node.", map.owners.count { $0 == self.member.id }),
            ("cluster_owned_realms", .gauge, "Open realms whose commits happen in the log, made by this node.", open.owned),
            ("cluster_followed_realms", .gauge, "Open realms that another node writes, or nobody.", open.followed),
            (
                "cluster_promotions_total", .counter, "Open realms that were followed, and owned from then on.",
                counts.promotions.load(ordering: .relaxed)
            ),
            (
                "cluster_demotions_total", .counter, "Open realms that were owned, and followed from then on.",
                counts.demotions.load(ordering: .relaxed)
            ),
            (
                "replica_lag_commits", .gauge, "How many commits the realm is behind that is furthest behind.",
                Int(clamping: replicas.lag.commits)
            ),
            ("replica_records_total", .counter, "Records of other nodes that were applied.", replicas.counts.records),
            ("replica_bytes_total", .counter, "Bytes of records of other nodes that were applied.", replicas.counts.bytes),
            (
                "replica_refetches_total", .counter, "Records that were damaged or missing and asked for again.",
                replicas.counts.refetches
            ),
            ("replica_rebuilds_total", .counter, "Files that were made anew from a base.", replicas.counts.rebuilds),
            ("replica_evictions_total", .counter, "How often readers were told to end.", replicas.counts.evictions),
            ("replica_renewals_total", .counter, "Files that were copied because readers did not end.", replicas.counts.renewals),
            ("replica_failures_total", .counter, "Attempts to take records over that failed.", replicas.counts.failures),
            ("replica_polls_total", .counter, "Looks at the log for realms that are followed.", follower.counts.polls),
            ("replica_poll_failures_total", .counter, "Looks at the log that failed.", follower.counts.failures),
            ("cluster_claims_total", .counter, "Realms that were claimed.", counts.claims.load(ordering: .relaxed)),
            (
                "cluster_hydrations_total", .counter, "Files that were made from a base.",
                counts.hydrations.load(ordering: .relaxed)
            ),
            (
                "cluster_replayed_records_total", .counter, "Records that files were brought up with when they were opened.",
                counts.replayedRecords.load(ordering: .relaxed)
            ),
            ("cluster_fenced_total", .counter, "Realms that were lost to another node.", counts.fenced.load(ordering: .relaxed)),
            (
                "cluster_unknown_outcomes_total", .counter, "Commits whose outcome was not known in time.",
                counts.unknownOutcomes.load(ordering: .relaxed)
            ),
            (
                "cluster_hand_overs_total", .counter, "Requests for realms of other nodes.",
                counts.handOvers.load(ordering: .relaxed)
            ),
            (
                "cluster_failed_openings_total", .counter, "Realms that could not be opened because of the log.",
                counts.failedOpenings.load(ordering: .relaxed)
            ),
            ("cluster_bases_total", .counter, "Bases that were made of realms of this node.", bases.bases),
            ("cluster_prunings_total", .counter, "How often records behind a base were deleted from the log.", bases.prunings),
            ("cluster_base_failures_total", .counter, "Bases that could not be made.", bases.failures),
            ("cluster_register_failures_total", .counter, "Calls of the register that failed.", member.failures),
            ("cluster_taken_shards_total", .counter, "Shards taken from nodes that were gone.", member.takenShards),
        ]
        for (name, kind, help, value) in rows { text.single(name, kind, help: help, value: Double(value)) }
        text.single(
            "cluster_silence_seconds", .gauge, help: "The time since the register has answered.",
            value: min(self.member.silentSeconds, 1e9))
        text.single(
            "replica_lag_seconds", .gauge, help: "The longest time since the log has answered for a realm that is followed.",
            value: min(replicas.lag.seconds, 1e9))
        (log as? PostgresLog)?.counts.write(to: &text)
    }
}

extension PostgresLog.Counts {
    /// Writes how the log is used.
    fileprivate func write(to text: inout MetricsText) {
        text.single("log_waiting_requests", .gauge, help: "Requests that wait for the log.", value: Double(waiting))
        text.single("log_rounds_total", .counter, help: "Transactions of the log.", value: Double(rounds))
        text.single("log_requests_total", .counter, help: "Requests of realms to the log.", value: Double(requests))
        text.single(
            "log_lost_rounds_total", .counter, help: "Transactions whose outcome is not known.", value: Double(lostRounds))
        text.single(
            "log_sent_bytes_total", .counter, help: "Bytes of records that were sent to the log.", value: Double(byteCount))
        text.single("log_round_seconds_total", .counter, help: "Time that transactions of the log took.", value: seconds)
    }
}
