// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmHTTP
import RealmStorage

/// The command `realm-rest watch`: follows a stream of changes and prints its events for
/// people.
struct WatchCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follows a stream of changes and prints its events.",
        discussion: """
            The URL is that of a server's changes, for example
              realm-rest watch 'http://127.0.0.1:8080/v1/realms/store/changes?class=Order&where=total%20%3E%20100'
            A connection that ends is opened again and continues at the last position.
            """)

    /// The URL of the stream, as a server offers it under `changes`.
    @Argument(help: "The URL of a stream of changes.")
    var url: String

    /// The position at which the stream starts; nil for the newest version.
    @Option(help: "The position to continue from.")
    var since: String?

    /// Whether the JSON data of events are printed instead of text.
    @Flag(help: "Print the JSON data of each event on one line.")
    var json = false

    /// Whether the command ends when the first connection ends.
    @Flag(help: "End when the connection ends.")
    var once = false

    /// The seconds between the end of a connection and the next one.
    private static let pauseSeconds = 2.0

    /// Prints events until the stream has ended for good, or the reader of the output has gone.
    ///
    /// A connection that fails is opened again and continues at the last position.
    ///
    /// - Throws: `ExitCode(64)` for a wrong URL, and `ExitCode(1)` when the server cannot be
    ///   followed.
    func run() throws {
        let follower: EventFollower
        do throws(EventFollower.Failure) {
            follower = try EventFollower(url: url, from: since)
        } catch {
            throw wrongUse(error.description)
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

    /// Returns whether an event is the last one, after which the server expects no further
    /// connection.
    private static func isLast(_ event: EventFollower.Event) -> Bool {
        guard let data = try? JSONParser.parse(event.data, depthLimit: 64).object else { return false }
        switch event.name {
        case "end": return data["reason"] == .string("deleted")
        case "error": return data["retryable"] != .bool(true)
        default: return false
        }
    }

    /// Prints one event; an event without a name is left out.
    ///
    /// - Parameter event: The event.
    /// - Throws: `StandardStreams.OutputClosed` when the reader of the output has gone.
    private func show(_ event: EventFollower.Event) throws {
        guard !event.name.isEmpty else { return }
        try StandardStreams.output((json ? event.name + " " + event.data : EventPrinter.text(event)) + "\n")
    }
}
