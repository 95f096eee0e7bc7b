// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage
internal import Synchronization

extension ClusterService {
    /// Writes the counts since the start, and the state of this node.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let map = member.map
        let member = member.counts
        let bases = keeper.counts
        let open = realms.counts
        let replicas = follower.totals
        text.gauge("cluster_shards", "Shards of this node.", map.owners.count { $0 == self.member.id })
        text.gauge("cluster_owned_realms", "Open realms whose commits happen in the log, made by this node.", open.owned)
        text.gauge("cluster_followed_realms", "Open realms that another node or no node writes.", open.followed)
        text.counter(
            "cluster_promotions_total", "Promotions of open realms from followed to owned.",
            counts.promotions.load(ordering: .relaxed))
        text.counter(
            "cluster_demotions_total", "Demotions of open realms from owned to followed.",
            counts.demotions.load(ordering: .relaxed))
        text.gauge(
            "replica_lag_commits", "Largest replication lag of any realm, in commits.",
            Int(clamping: replicas.lag.commits))
        text.counter("replica_records_total", "Records of other nodes that were applied.", replicas.counts.records)
        text.counter("replica_bytes_total", "Bytes of records of other nodes that were applied.", replicas.counts.bytes)
        text.counter(
            "replica_refetches_total", "Records that were damaged or missing and asked for again.", replicas.counts.refetches)
        text.counter("replica_rebuilds_total", "Files that were made anew from a base.", replicas.counts.rebuilds)
        text.counter("replica_evictions_total", "Requests to readers to end.", replicas.counts.evictions)
        text.counter("replica_renewals_total", "Files that were copied because readers did not end.", replicas.counts.renewals)
        text.counter("replica_failures_total", "Failed attempts to apply records.", replicas.counts.failures)
        text.counter("replica_polls_total", "Polls of the log for followed realms.", follower.counts.polls)
        text.counter("replica_poll_failures_total", "Failed polls of the log.", follower.counts.failures)
        text.counter("cluster_claims_total", "Realms that were claimed.", counts.claims.load(ordering: .relaxed))
        text.counter("cluster_hydrations_total", "Files that were made from a base.", counts.hydrations.load(ordering: .relaxed))
        text.counter(
            "cluster_replayed_records_total", "Records that were applied to files when they were opened.",
            counts.replayedRecords.load(ordering: .relaxed))
        text.counter("cluster_fenced_total", "Realms that were lost to another node.", counts.fenced.load(ordering: .relaxed))
        text.counter(
            "cluster_unknown_outcomes_total", "Commits whose outcome was not known in time.",
            counts.unknownOutcomes.load(ordering: .relaxed))
        text.counter("cluster_hand_overs_total", "Requests for realms of other nodes.", counts.handOvers.load(ordering: .relaxed))
        text.counter(
            "cluster_failed_openings_total", "Realms that could not be opened because of the log.",
            counts.failedOpenings.load(ordering: .relaxed))
        text.counter("cluster_bases_total", "Bases that were made of realms of this node.", bases.bases)
        text.counter("cluster_prunings_total", "Deletions of records behind a base from the log.", bases.prunings)
        text.counter("cluster_base_failures_total", "Bases that could not be made.", bases.failures)
        text.counter("cluster_register_failures_total", "Calls of the register that failed.", member.failures)
        text.counter("cluster_taken_shards_total", "Shards taken from nodes that were gone.", member.takenShards)
        text.gauge(
            "cluster_silence_seconds", "Time since the last response of the register.", min(self.member.silentSeconds, 1e9))
        text.gauge(
            "replica_lag_seconds", "Longest time since the last response of the log for a followed realm.",
            min(replicas.lag.seconds, 1e9))
        (log as? PostgresLog)?.counts.write(to: &text)
    }
}

extension PostgresLog.Counts {
    /// Writes how the log is used.
    fileprivate func write(to text: inout MetricsText) {
        text.gauge("log_waiting_requests", "Requests that wait for the log.", waiting)
        text.counter("log_rounds_total", "Transactions of the log.", rounds)
        text.counter("log_requests_total", "Requests of realms to the log.", requests)
        text.counter("log_lost_rounds_total", "Transactions whose outcome is not known.", lostRounds)
        text.counter("log_sent_bytes_total", "Bytes of records that were sent to the log.", byteCount)
        text.counter("log_round_seconds_total", "Time that transactions of the log took.", seconds)
    }
}
