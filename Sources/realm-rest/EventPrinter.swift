// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// Formats the events of a change stream as text for people, for the command `watch`.
enum EventPrinter {
    /// Returns the text of an event, which may have several lines.
    ///
    /// - Parameter event: An event with its name and its JSON data.
    /// - Returns: The text without a final newline. Unknown events appear with their data,
    ///   malformed ones with their name only.
    static func text(_ event: EventFollower.Event) -> String {
        guard let data = try? JSONParser.parse(event.data, depthLimit: 1000).object else { return event.name }
        switch event.name {
        case "snapshot": return snapshot(data)
        case "changes": return changes(data)
        case "ready", "heartbeat": return "-- \(event.name) at \(text(data["version"]))"
        case "reset": return "-- reset of \(text(data["subs"])) (\(text(data["reason"]))) at \(text(data["version"]))"
        case "schema":
            return "-- schema version \(text(data["oldVersion"])) became \(text(data["newVersion"])) at \(text(data["version"]))"
        case "end": return "-- end (\(text(data["reason"])))"
        case "error": return "-- error \(text(data["code"])): \(text(data["detail"]))"
        default: return "-- \(event.name) \(event.data)"
        }
    }

    /// Returns the text of a snapshot: a heading, then the object or one line for each row, by section if there are any.
    ///
    /// - Parameter data: The data of the event, as the HTTP interface documents them.
    private static func snapshot(_ data: JSONObject) -> String {
        var lines = ["== \(text(data["sub"])) at \(text(data["version"]))" + (data["count"].map { ", \(text($0)) rows" } ?? "")]
        if let object = data["object"] { lines.append("   " + text(object)) }
        for row in data["items"]?.array ?? [] { lines.append("   " + self.row(row)) }
        for section in data["sections"]?.array ?? [] {
            lines.append("   [\(text(section.object?["key"]))]")
            for row in section.object?["items"]?.array ?? [] { lines.append("     " + self.row(row)) }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the text of a change set: a heading with the versions, then one line for each change.
    ///
    /// Deleted rows are marked with `-`, inserted ones with `+` and modified ones with `~`.
    ///
    /// - Parameter data: The data of the event, as the HTTP interface documents them.
    private static func changes(_ data: JSONObject) -> String {
        let flags = ["cleared", "deleted", "skipped"].filter { data[$0] == .bool(true) }.map { ", " + $0 }.joined()
        var lines = [
            "** \(text(data["sub"])) \(text(data["from"])) -> \(text(data["to"]))"
                + (data["count"].map { ", \(text($0)) rows" } ?? "") + flags
        ]
        for section in data["sectionsToDelete"]?.array ?? [] {
            lines.append(" - section \(text(section.object?["section"])): \(text(section.object?["key"]))")
        }
        for section in data["sectionsToInsert"]?.array ?? [] {
            lines.append(" + section \(text(section.object?["section"])): \(text(section.object?["key"]))")
        }
        for (sign, name) in [("-", "deletions"), ("+", "insertions"), ("~", "modifications")] {
            for row in data[name]?.array ?? [] { lines.append(" \(sign) \(place(row)) \(self.row(row))") }
        }
        for property in data["properties"]?.array ?? [] { lines.append(" ~ " + self.property(property)) }
        if let classes = data["classes"] { lines.append("   classes " + text(classes)) }
        return lines.joined(separator: "\n")
    }

    /// Returns the position of a changed row, with the number of its section if there are sections.
    private static func place(_ row: JSONValue) -> String {
        let section = row.object?["section"].map { text($0) + "/" } ?? ""
        return section + (row.object?["index"].map(text) ?? "")
    }

    /// Returns the contents of a row in one line: its key, the changed properties and the object or value.
    private static func row(_ row: JSONValue) -> String {
        guard let object = row.object else { return text(row) }
        let parts = ["entry", "key", "properties", "object", "value"].compactMap { name in object[name].map(text) }
        return parts.joined(separator: " ")
    }

    /// Returns a changed property of an object, with its old and new value if the event contains them.
    private static func property(_ value: JSONValue) -> String {
        guard let object = value.object else { return text(value) }
        guard let old = object["oldValue"] else { return text(object["name"]) }
        return "\(text(object["name"])): \(text(old)) -> \(text(object["newValue"]))"
    }

    /// Returns JSON as text; a string appears without quotes, and nil as an empty text.
    private static func text(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        return value.string ?? value.canonicalText
    }
}
