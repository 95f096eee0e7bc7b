// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage

/// The lines of a comparison, read.
struct DifferenceList {
    /// The differences in their order.
    let lines: [JSONObject]
    let begin: JSONObject
    let end: JSONObject

    /// Compares two versions.
    init(_ old: Snapshot, _ new: Snapshot, _ options: ComparisonOptions) throws {
        let stream = try ComparisonStream(
            from: ComparedVersion(old, file: "a"), to: ComparedVersion(new, file: "b"), options, format: .ndjson)
        var text: [UInt8] = []
        try stream.forEachChunk { text += $0 }
        var objects = try text.split(separator: UInt8(ascii: "\n")).map { line in
            try JSONParser.parse(Array(line), depthLimit: 320).object ?? JSONObject([])
        }
        begin = objects.removeFirst()["$begin"]?.object ?? JSONObject([])
        end = objects.removeLast()["$end"]?.object ?? JSONObject([])
        lines = objects
        guard end["equal"] == .bool(lines.isEmpty), stream.counts.isEqual == lines.isEmpty else { throw Wrong() }
    }

    struct Wrong: Error {}

    /// The lines in the order of their texts, without the keys of both versions.
    var sorted: [String] { lines.map { DifferenceList.text(.object($0), isTurned: false) }.sorted() }

    /// The lines as those of the comparison the other way round.
    var turned: [String] { lines.map { DifferenceList.text(.object($0), isTurned: true) }.sorted() }

    private static let opposites = [
        "added": "removed", "removed": "added", "classAdded": "classRemoved", "classRemoved": "classAdded",
        "propertyAdded": "propertyRemoved", "propertyRemoved": "propertyAdded",
    ]

    private static func text(_ line: JSONValue, isTurned: Bool) -> String {
        var members: [(name: String, value: JSONValue)] = []
        for member in line.object?.members ?? [] where member.name != "same" {
            switch (member.name, isTurned) {
            case ("from", true): members.append((name: "to", value: member.value))
            case ("to", true): members.append((name: "from", value: member.value))
            case ("kind", true):
                let kind = member.value.string ?? ""
                members.append((name: "kind", value: .string(opposites[kind] ?? kind)))
            default: members.append(member)
            }
        }
        return canonical(.object(JSONObject(members)))
    }

    /// Returns a value as text with members in the order of their names.
    static func canonical(_ value: JSONValue) -> String {
        switch value {
        case .array(let elements): return "[" + elements.map(canonical).joined(separator: ",") + "]"
        case .object(let object):
            let members = object.members.sorted { $0.name < $1.name }
            return "{" + members.map { "\($0.name):" + canonical($0.value) }.joined(separator: ",") + "}"
        default: return "\(value)"
        }
    }
}
