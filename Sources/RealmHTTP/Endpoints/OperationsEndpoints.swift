// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage

/// What the server reports of itself: health, readiness, version and metrics.
struct OperationsEndpoints: Sendable {
    /// The realms that have to be open before the server is ready.
    let catalog: Catalog
    /// The parts of the server that write metrics.
    let registry: MetricsRegistry
    /// Whether the server is stopping, and so not ready.
    let lifecycle: Lifecycle
    /// The audit log; nil when there is none.
    let audit: AuditLog?
    /// This server as a node of a cluster; nil for a server by itself.
    let cluster: ClusterService?

    /// Answers `GET /healthz` with 200: the process is alive and answers requests.
    ///
    /// It depends on no realm, so a supervisor does not restart a server only because a file is
    /// missing.
    func health(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        var response = Response(type: "application/json", OutputBuffer.constant("{\"status\":\"ok\"}"))
        response.add("Cache-Control", constant: "no-store")
        return .now(response)
    }

    /// Answers `GET /readyz` with 200 when every configured realm is open and the server is not
    /// stopping. The body says so when the audit log cannot be written.
    ///
    /// - Throws: `not_ready` with the names of the realms that are not open, and for a node that has lost its cluster.
    func readiness(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard !lifecycle.isStopping, catalog.unready.isEmpty else {
            throw Problem(.notReady, lifecycle.isStopping ? "the server is shutting down" : "not every realm is open")
                .with("realms", .texts(catalog.unready))
        }
        if let cluster, !cluster.member.isCurrent { throw Problem(.notReady, "the node has not heard from its cluster lately") }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        writer.member("status", text: "ready")
        // Reads are answered all the same, so the server is not taken out of service for it.
        if let audit, !audit.isWritten { writer.member("audit", text: "unavailable") }
        writer.endObject()
        var response = Response(type: "application/json", writer.buffer)
        response.add("Cache-Control", constant: "no-store")
        return .now(response)
    }

    /// Answers `GET /v1/version` with the version of the program.
    ///
    /// - Throws: `unknown_parameter` for any query parameter.
    func version(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        writer.member("name", text: Build.name)
        writer.member("version", text: Build.version)
        writer.endObject()
        return .now(Response(unstored: writer.buffer))
    }

    /// Answers `GET /metrics` in the Prometheus text format, for administrators.
    ///
    /// The attendant writes it: a thread of its own, which has time even when all workers are busy.
    func metrics(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        return .attend { [registry] in
            var response = Response(type: "text/plain; version=0.0.4; charset=utf-8", OutputBuffer.text(registry.text))
            response.add("Cache-Control", constant: "no-store")
            return response
        }
    }
}
