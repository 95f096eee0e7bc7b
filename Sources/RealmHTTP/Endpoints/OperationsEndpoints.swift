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

/// The reports of the server about itself: health, readiness, version and metrics.
struct OperationsEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET /healthz` with 200: the process is alive and answers requests.
    ///
    /// It depends on no realm, so a supervisor does not restart a server only because a file is missing.
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
        guard !server.lifecycle.isStopping, server.catalog.unready.isEmpty else {
            throw Problem(.notReady, server.lifecycle.isStopping ? "the server is shutting down" : "not every realm is open")
                .with("realms", .texts(server.catalog.unready))
        }
        if let cluster = server.cluster, !cluster.member.isCurrent {
            throw Problem(.notReady, "the node has lost contact with its cluster")
        }
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        writer.member("status", text: "ready")
        // Reads are answered all the same, so the server is not taken out of service for it.
        if let audit = server.audit, !audit.isWritten { writer.member("audit", text: "unavailable") }
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
    /// The attendant writes it: a separate thread, which has time even when all workers are busy.
    func metrics(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        return .attend { [metrics = server.metrics] in
            var response = Response(type: "text/plain; version=0.0.4; charset=utf-8", OutputBuffer.text(metrics.text))
            response.add("Cache-Control", constant: "no-store")
            return response
        }
    }
}
