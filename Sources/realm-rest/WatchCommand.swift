// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmHTTP
import RealmStorage

/// Follows changes and prints them for people.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follows a stream of changes and prints its events.",
        discussion: """
            The URL is that of a server's changes, for example
              realm-rest watch 'http://127.0.0.1:8080/v1/realms/store/changes?class=Order&where=total%20%3E%20100'
            A connection that ends is made again, from where it ended.
            """)

    @Argument(help: "The URL of a stream of changes.")
    var url: String

    @Option(help: "A position to go on from.")
    var since: String?

    @Flag(help: "Print the data of events as it came, one a line.")
    var json = false

    @Flag(help: "End when the connection ends.")
    var once = false

    /// Between two connections.
    private static let pauseSeconds = 2.0

    func run() throws {
        let follower: EventFollower
        do throws(EventFollower.Failure) {
            follower = try EventFollower(url: url, from: since)
        } catch {
            throw ValidationError(error.description)
        }
        var isOver = false
        while !isOver {
            do {
                try follower.follow { event in
                    try show(event)
                    isOver = WatchCommand.isLast(event)
                    return !isOver
                }
            } catch let failure as EventFollower.Failure {
                StandardStreams.error(failure.description)
                guard failure.isPassing, !once else { throw ExitCode(1) }
            } catch is StandardStreams.OutputClosed {
                return
            }
            if once { return }
            if !isOver { Threads.sleep(seconds: WatchCommand.pauseSeconds) }
        }
    }

    /// Whether the server wants nobody back.
    private static func isLast(_ event: EventFollower.Event) -> Bool {
        guard let data = try? JSONParser.parse(event.data, depthLimit: 64).object else { return false }
        switch event.name {
        case "end": return data["reason"] == .string("deleted")
        case "error": return data["retryable"] != .bool(true)
        default: return false
        }
    }

    private func show(_ event: EventFollower.Event) throws {
        guard !event.name.isEmpty else { return }
        try StandardStreams.output((json ? event.name + " " + event.data : EventPrinter.text(event)) + "\n")
    }
}

/// Events in the words of people.
enum EventPrinter {
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

    private static func place(_ row: JSONValue) -> String {
        let section = row.object?["section"].map { text($0) + "/" } ?? ""
        return section + (row.object?["index"].map(text) ?? "")
    }

    private static func row(_ row: JSONValue) -> String {
        guard let object = row.object else { return text(row) }
        let parts = ["entry", "key", "properties", "object", "value"].compactMap { name in object[name].map(text) }
        return parts.joined(separator: " ")
    }

    private static func property(_ value: JSONValue) -> String {
        guard let object = value.object else { return text(value) }
        guard let old = object["oldValue"] else { return text(object["name"]) }
        return "\(text(object["name"])): \(text(old)) -> \(text(object["newValue"]))"
    }

    /// JSON as text; a string without its quotes.
    private static func text(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        return value.string ?? value.canonicalText
    }
}
