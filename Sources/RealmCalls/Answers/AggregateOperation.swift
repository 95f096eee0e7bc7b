// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// One entry of `ops`: `count`, or a function with a key path such as `min:age`, `avg:owner.age` or `percentile(95):age`.
package struct AggregateOperation: Sendable {
    /// The entry as the request has it. It is also the name of the result in the response.
    let text: String
    /// The function and the key path for the engine; nil for `count`.
    let request: AggregateRequest?

    /// Reads one entry of `ops`. The key path is resolved later, when the class is known.
    ///
    /// - Parameters:
    ///   - text: The entry.
    ///   - isOfValues: Whether the elements are values, for which `min` means `min:self`.
    /// - Throws: `invalid_parameter` for an unknown function or a missing key path.
    private init(_ text: String, isOfValues: Bool) throws(Problem) {
        self.text = text
        if text == "count" {
            request = nil
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.count > 1 ? String(parts[1]) : isOfValues ? "self" : ""
        guard let combination = AggregateOperation.combination(parts[0]), !path.isEmpty else {
            let names = ["min", "max", "sum", "avg", "countDistinct", "median", "percentile(n)"]
            let known = (["count"] + names.map { isOfValues ? $0 : $0 + ":…" }).joined(separator: ", ")
            throw .invalidParameter("ops", "'\(text.truncated)' is not one of \(known)\(AggregateOperation.hint(for: text))")
        }
        request = AggregateRequest(combination, path)
    }

    /// Returns what a name such as `min` or `percentile(95)` means; nil for any other text.
    private static func combination(_ name: Substring) -> AggregateRequest.Combination? {
        switch name {
        case "min": return .function(.min)
        case "max": return .function(.max)
        case "sum": return .function(.sum)
        case "avg": return .function(.average)
        case "countDistinct": return .statistic(.distinct)
        case "median": return .statistic(.percentile(50))
        default:
            guard name.hasPrefix("percentile("), name.hasSuffix(")"),
                let share = Double(name.dropFirst("percentile(".count).dropLast()), (0...100).contains(share)
            else { return nil }
            return .statistic(.percentile(share))
        }
    }

    /// Returns the end of the error text about an entry that is none.
    private static func hint(for text: String) -> String {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "_" && $0 != "@" }
        guard let first = words.first else { return "" }
        let meanings: [ByteText: String] = [
            "average": "avg", "mean": "avg", "minimum": "min", "maximum": "max", "total": "sum", "distinct": "countDistinct",
            "unique": "countDistinct",
        ]
        let functions = ["count", "min", "max", "sum", "avg", "countDistinct", "median"]
        let word = first.lowercasedASCII
        guard
            let function = meanings[word] ?? functions.first(where: { $0 == word }) ?? Suggestion.nearest(to: word, in: functions)
        else { return "" }
        let path = words.count > 1 && function != "count" ? ":" + words[1] : ""
        return "; did you mean '\(String(function + path).truncated)'?"
    }

    /// Reads the entries of `ops`; without them the elements are counted.
    ///
    /// - Parameters:
    ///   - texts: The entries; nil when the parameter is absent.
    ///   - subject: The aggregated rows: objects or values.
    /// - Throws: `invalid_parameter` for an unknown or repeated entry: the members of a response have different names.
    package static func list(_ texts: [String]?, of subject: Elements.Subject) throws(Problem) -> [AggregateOperation] {
        var isOfValues = false
        if case .values = subject { isOfValues = true }
        var operations: [AggregateOperation] = []
        var names = Set<ByteText>()
        for text in texts ?? ["count"] {
            guard names.insert(text).inserted else { throw .invalidParameter("ops", "'\(text)' is given twice") }
            operations.append(try AggregateOperation(text, isOfValues: isOfValues))
        }
        return operations
    }
}
