// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Lines of JSON.
enum NDJSONLines {
    /// The values with their lines, counted from 1; blank lines are skipped. Errors have a `line`.
    ///
    /// All lines together have as many values as one document may have. `expect` is told before how many there are, and may
    /// refuse them.
    static func parse(
        _ bytes: [UInt8], _ limits: Limits, expect: (Int) throws(Problem) -> Void
    ) throws(Problem) -> [(line: Int, value: JSONValue)] {
        guard !bytes.isEmpty else { throw Problem(.invalidJSON, "the body is empty where JSON is needed") }
        let total = JSONParser.valueCount(of: bytes, upTo: limits.jsonValues)
        guard total <= limits.jsonValues else {
            throw Problem.overLimit(.bodyTooLarge, "JSON of more than \(limits.jsonValues) values", limit: limits.jsonValues)
                .with("limitName", "json-values")
        }
        try expect(total)
        var values: [(line: Int, value: JSONValue)] = []
        var line = 0
        var start = 0
        while start <= bytes.count {
            line += 1
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let text = bytes[start..<end]
            start = end + 1
            guard text.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { continue }
            do throws(JSONError) {
                values.append((line: line, value: try JSONParser.parse(Array(text), depthLimit: limits.jsonDepth)))
            } catch {
                throw Problem(error).with("line", .integer(Int64(line)))
            }
        }
        return values
    }
}
