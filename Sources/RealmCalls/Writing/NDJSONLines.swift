// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Parses bodies of the type `application/x-ndjson`, which have one JSON value a line.
enum NDJSONLines {
    /// Parses all lines of a body; blank lines are skipped.
    ///
    /// All lines together may have as many JSON values as a single document.
    ///
    /// - Parameters:
    ///   - bytes: The whole body.
    ///   - limits: The bounds of the server: the number of values (`json-values`) and the depth of
    ///     each line (`json-depth`).
    ///   - expect: Called once with the number of JSON values before any is parsed. It may throw
    ///     when there is not enough memory for them.
    /// - Returns: The values with the numbers of their lines, counted from 1, blank ones included.
    /// - Throws: `invalid_json` for an empty body, and with `line` for a line that is not JSON; `body_too_large` for too many
    ///   values; the errors of `expect`.
    /// - Complexity: O(n) in the bytes of the body, which is read twice.
    package static func parse(
        _ bytes: [UInt8], _ limits: Limits, expect: (Int) throws(Problem) -> Void
    ) throws(Problem) -> [(line: Int, value: JSONValue)] {
        guard !bytes.isEmpty else { throw Problem(.invalidJSON, "the body is empty; expected JSON") }
        let total = JSONParser.valueCount(of: bytes, upTo: limits.jsonValues)
        guard total <= limits.jsonValues else {
            throw Problem.overLimit(.bodyTooLarge, "JSON of more than \(limits.jsonValues) values", limit: limits.jsonValues)
                .with("limitName", "json-values")
        }
        try expect(total)
        let bounds = JSONBounds(depth: limits.jsonDepth)
        var names = JSONNames()
        var values: [(line: Int, value: JSONValue)] = []
        var line = 0
        var start = 0
        while start <= bytes.count {
            line += 1
            let end = bytes.firstLineFeed(from: start) ?? bytes.count
            let text = bytes[start..<end]
            start = end + 1
            guard text.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { continue }
            do throws(JSONError) {
                values.append((line: line, value: try JSONParser.parse(text, bounds, &names)))
            } catch {
                throw Problem(error).with("line", .integer(Int64(line)))
            }
        }
        return values
    }
}
