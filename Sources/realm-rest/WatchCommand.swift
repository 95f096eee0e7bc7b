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
