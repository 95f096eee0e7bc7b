// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// What the server reports of itself.
struct OperationsEndpoints: Sendable {
    /// The realms that have to be open before the server is ready.
    let catalog: Catalog
    /// What `/metrics` shows.
    let registry: MetricsRegistry
    /// Whether the server is stopping, and so not ready.
    let lifecycle: Lifecycle

    /// `GET /healthz`: the process answers.
    func health(_ call: Call) throws(Problem) -> Reply {
        try QueryParameters(call.request.target).requireKnown([])
        var response = Response(type: "application/json", OutputBuffer.constant("{\"status\":\"ok\"}"))
        response.add("Cache-Control", constant: "no-store")
        return .now(response)
    }

    /// `GET /readyz`: every configured realm is open, and the server is not ending.
    func readiness(_ call: Call) throws(Problem) -> Reply {
        try QueryParameters(call.request.target).requireKnown([])
        guard !lifecycle.isStopping, catalog.unready.isEmpty else {
            throw Problem(.notReady, lifecycle.isStopping ? "the server is shutting down" : "not every realm is open")
                .with("realms", .texts(catalog.unready))
        }
        var response = Response(type: "application/json", OutputBuffer.constant("{\"status\":\"ready\"}"))
        response.add("Cache-Control", constant: "no-store")
        return .now(response)
    }

    /// `GET /metrics`: for administrators. The attendant answers, who has time when all workers are busy.
    func metrics(_ call: Call) throws(Problem) -> Reply {
        try QueryParameters(call.request.target).requireKnown([])
        return .attend { [registry] in
            var response = Response(type: "text/plain; version=0.0.4; charset=utf-8", OutputBuffer.text(registry.text))
            response.add("Cache-Control", constant: "no-store")
            return response
        }
    }
}
