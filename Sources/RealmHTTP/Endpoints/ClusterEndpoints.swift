// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage

/// The state of a cluster as one of its nodes knows it.
struct ClusterEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET /v1/cluster` with the nodes and their numbers of shards.
    ///
    /// - Throws: `unknown_parameter`; `not_found` for a server that is no node of a cluster.
    func get(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard let cluster = server.cluster else { throw Problem(.notFound, "this server is not a node of a cluster") }
        let member = cluster.member
        let map = member.map
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("node", text: member.id)
        writer.member("url", text: member.url)
        writer.member("isCurrent", bool: member.isCurrent)
        writer.member("assignments", int: Int(clamping: map.number))
        writer.member("unassignedShards", int: map.owners.count { $0.isEmpty })
        let open = cluster.realms.counts
        writer.member("ownedRealms", int: open.owned)
        writer.member("followedRealms", int: open.followed)
        writer.key("nodes")
        writer.beginArray()
        for node in map.nodes { write(node, map, member.limits, to: &writer) }
        writer.endArray()
        writer.endObject()
        var response = Response(unstored: writer.buffer)
        response.add("Cache-Control", constant: "no-store")
        return .now(response)
    }

    private func write(_ node: ClusterNode, _ map: ClusterMap, _ limits: ClusterMember.Limits, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", text: node.id)
        writer.member("url", text: node.url)
        writer.member("state", text: node.state(patience: limits.patienceSeconds).rawValue)
        writer.member("silentMilliseconds", int: Int(clamping: Int64(max(0, min(node.silentSeconds, 1e12)) * 1000)))
        writer.member("shards", int: map.owners.count { $0 == node.id })
        writer.endObject()
    }
}
