// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension Response {
    /// Makes the error response for a problem: its document (RFC 9457), its header fields,
    /// `Cache-Control: no-store`, and `Retry-After` where the code allows it.
    ///
    /// - Parameters:
    ///   - problem: The problem to report.
    ///   - id: The id of the request, which appears in the document.
    package init(_ problem: Problem, id: RequestID) {
        var writer = JSONWriter()
        problem.write(to: &writer, requestID: id)
        self.init(status: problem.status, type: "application/problem+json", writer.buffer, headers: problem.headers)
        self.problem = problem.code
        add("Cache-Control", constant: "no-store")
        guard problem.code.hasRetryAfter else { return }
        // Some clients wait a second longer, so that those refused together do not all return
        // together.
        add("Retry-After", String(problem.retryAfterSeconds + Int.random(in: 0...1)))
    }

    /// Makes a JSON response that no cache may store.
    ///
    /// - Parameters:
    ///   - document: The complete JSON text.
    package init(unstored document: OutputBuffer, status: Int = 200) {
        self.init(status: status, type: "application/json", document, headers: [HeaderField("Cache-Control", "no-store")])
    }
}
