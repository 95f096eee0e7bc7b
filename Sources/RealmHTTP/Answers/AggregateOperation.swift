// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// One entry of `ops`: `count`, or a function with a key path such as `min:age` or `avg:owner.age`.
struct AggregateOperation: Sendable {
    /// The entry as the request has it. It is also the name of the result in the answer.
    let text: String
    /// The function and the key path for the engine; nil for `count`.
    let request: AggregateRequest?

    /// Reads one entry of `ops`. The key path is resolved later, when the class is known.
    ///
    /// - Throws: `invalid_parameter` for an unknown function or a missing key path.
    init(_ text: String) throws(Problem) {
        self.text = text
        if text == "count" {
            request = nil
            return
        }
        let functions: [String: AggregateRequest.Function] = ["min": .min, "max": .max, "sum": .sum, "avg": .average]
        guard let colon = text.firstIndex(of: ":"), let function = functions[String(text[..<colon])],
            text.index(after: colon) < text.endIndex
        else {
            throw .invalidParameter("ops", "'\(text)' is not one of count, min:…, max:…, sum:…, avg:…")
        }
        request = AggregateRequest(function, String(text[text.index(after: colon)...]))
    }
}
