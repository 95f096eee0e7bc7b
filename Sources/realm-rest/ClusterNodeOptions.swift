// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The options of the command `serve` about the cluster that the server is a node of.
struct ClusterNodeOptions: ParsableArguments {
    /// The address of the log of the cluster; nil for a single server.
    @Option(
        help: ArgumentHelp(
            "The PostgreSQL that keeps the log of a cluster: the realms of --data belong to the cluster, and this server is a node "
                + "of it. A password is better in PGPASSFILE.",
            valueName: "postgres://…"))
    var cluster: String?

    /// The name of the node; nil for none.
    @Option(help: ArgumentHelp("The name of this node of the cluster.", valueName: "NAME"))
    var node: String?

    /// The URL of the node; nil for none.
    @Option(help: ArgumentHelp("The URL at which clients and other nodes reach this node of the cluster.", valueName: "URL"))
    var url: String?

    /// The response to requests for realms of other nodes; nil for `refuse`.
    @Option(
        help: ArgumentHelp(
            "The response to requests for realms of other nodes, with Realm-Owner: refuse (421), redirect (307) or accel (421 with "
                + "X-Accel-Redirect: @NODE for nginx).",
            valueName: ClusterOptions.HandOver.allCases.map(\.rawValue).joined(separator: "|")))
    var handOver: String?

    /// Which realms of other nodes are served for reading; nil for `on-demand`.
    @Option(
        help: ArgumentHelp(
            "The realms of other nodes that this node serves for reading: those that are read here (on-demand), or none, "
                + "so that reads are handed over like writes.",
            valueName: ClusterOptions.Replicas.allCases.map(\.rawValue).joined(separator: "|")))
    var replicas: String?

    /// Whether a log is refused that one server alone keeps.
    @Flag(help: "Refuse a log whose PostgreSQL waits for no standby.")
    var requireStandby = false

    @OptionGroup var bases: BaseStoreOptions

    var settings: [(String, String)] {
        [("cluster", cluster), ("node", node), ("url", url), ("hand-over", handOver), ("replicas", replicas)]
            .compactMap { name, value in value.map { (name, $0) } } + bases.settings
    }
}
