// SPDX-License-Identifier: Apache-2.0

extension Response {
    /// The answer to a request that met a problem: its document (RFC 9457), its header fields, and when to come again.
    package init(_ problem: Problem, for request: Request) {
        var writer = JSONWriter()
        problem.write(to: &writer, requestID: request.id)
        self.init(status: problem.status, type: "application/problem+json", writer.buffer, headers: problem.headers)
        add("Cache-Control", constant: "no-store")
        guard problem.code.hasRetryAfter else { return }
        // A second more for some, so that clients refused together do not come back together.
        add("Retry-After", String(problem.retryAfterSeconds + Int.random(in: 0...1)))
    }

    /// A JSON document that nobody may keep.
    init(unstored document: OutputBuffer, status: Int = 200) {
        self.init(status: status, type: "application/json", document, headers: [HeaderField("Cache-Control", "no-store")])
    }
}
