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
        func document(_ problem: Problem) -> OutputBuffer {
            var writer = JSONWriter()
            problem.write(to: &writer, requestID: id)
            return writer.buffer
        }
        self.init(status: problem.status, type: "application/problem+json", document(problem), headers: problem.headers)
        self.problem = problem.code
        effect =
            problem.isPartial ? .partial(document(problem.withoutData)) : problem.isPassing ? .refusedForNow : .refused
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
