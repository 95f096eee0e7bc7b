// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// One entry of `ops`: `count`, `min:age`, `avg:owner.age`.
struct AggregateOperation: Sendable {
    /// As it was written; the name of the result.
    let text: String
    /// Nil for `count`.
    let request: AggregateRequest?

    /// Reads one entry of `ops`. Whether its property exists is found out with the class.
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
            throw .invalidParameter("ops", "'\(text)' is none of count, min:…, max:…, sum:…, avg:…")
        }
        request = AggregateRequest(function, String(text[text.index(after: colon)...]))
    }
}
