// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension Application {
    /// `GET /healthz`: the process answers.
    func health(_ call: Call) throws(Problem) -> Response {
        try QueryParameters(call.request.target).requireKnown([])
        var response = Response(type: "application/json", OutputBuffer.constant("{\"status\":\"ok\"}"))
        response.add("Cache-Control", constant: "no-store")
        return response
    }

    /// `GET /readyz`: every configured realm is open, and the server is not ending.
    func readiness(_ call: Call) throws(Problem) -> Response {
        try QueryParameters(call.request.target).requireKnown([])
        guard isReady else {
            throw Problem(.notReady, isEnding ? "the server is shutting down" : "not every realm is open")
                .with("realms", .texts(catalog.unready))
        }
        var response = Response(type: "application/json", OutputBuffer.constant("{\"status\":\"ready\"}"))
        response.add("Cache-Control", constant: "no-store")
        return response
    }

    /// `GET /metrics`: for administrators.
    func metricsText() -> Response {
        let body = OutputBuffer.constant("")
        body.append(metrics.text)
        var response = Response(type: "text/plain; version=0.0.4; charset=utf-8", body)
        response.add("Cache-Control", constant: "no-store")
        return response
    }
}
