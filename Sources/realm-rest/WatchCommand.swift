// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest watch`: follows a stream of changes and prints its events for people.
struct WatchCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follows a stream of changes and prints its events.",
        discussion: """
            The URL is that of a server's changes, such as

              'http://127.0.0.1:8080/v1/realms/store/changes?class=Order'

            A connection that ends is opened again and continues at the last position. An API key or a token is taken from \
            --api-key-file or from the variable \(EventFollower.variable) of the environment.
            """)

    /// The URL of the stream, as a server offers it under `changes`.
    @Argument(help: "The URL of a stream of changes.")
    var url: String

    /// The position at which the stream starts; nil for the newest version.
    @Option(help: "The position to continue from.")
    var since: String?

    /// The path of a file with an API key or a token; nil for that of the environment.
    @Option(help: ArgumentHelp("A file with the API key or the token to send.", valueName: "FILE"))
    var apiKeyFile: String?

    /// The path of a file with the only authorities that are trusted; nil for those of the system.
    @Option(help: ArgumentHelp("A file with the only authorities whose certificates are trusted, PEM.", valueName: "FILE"))
    var ca: String?

    /// Whether the JSON data of events are printed instead of text.
    @Flag(help: "Print the JSON data of each event on one line.")
    var json = false

    /// Whether the command ends when the first connection ends.
    @Flag(help: "End when the connection ends.")
    var once = false

    /// The seconds between the end of a connection and the next one.
    private static let pauseSeconds = 2.0
    /// The greatest length of a file with a credential.
    private static let credentialLimit = 64 << 10

    /// Prints events until the stream has ended for good, or the reader of the output has gone.
    ///
    /// A connection that fails is opened again and continues at the last position.
    ///
    /// - Throws: `ExitCode(64)` for a wrong URL, and `ExitCode(1)` when the server cannot be
    ///   followed.
    func run() throws {
        let follower: EventFollower
        let credential = try credential()
        if let ca, !RealmFiles.exists(ca) {
            StandardStreams.error("--ca: \(SecretText.shown(ca)): there is no such file")
            throw ExitCode(1)
        }
        do throws(EventFollower.Failure) {
            follower = try EventFollower(url: url, from: since, credential: credential, certificateAuthority: ca)
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

    /// Returns the API key or token to send; nil for none.
    ///
    /// - Throws: `ExitCode(1)` after a message when the file cannot be read.
    private func credential() throws -> String? {
        guard let apiKeyFile else {
            return unsafe getenv(EventFollower.variable).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        do throws(StorageError) {
            let bytes = try FileMapping.contents(ofFile: apiKeyFile, limit: WatchCommand.credentialLimit)
            let text = bytes.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
            return String(decoding: Array(text), as: UTF8.self)
        } catch {
            StandardStreams.error("--api-key-file: \(SecretText.shown(apiKeyFile)): \(error)")
            throw ExitCode(1)
        }
    }

    /// Returns whether an event is the last one, after which the server expects no new connection.
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
    /// - Throws: `StandardStreams.OutputClosed` when the reader of the output has gone.
    private func show(_ event: EventFollower.Event) throws {
        guard !event.name.isEmpty else { return }
        try StandardStreams.output((json ? event.name + " " + event.data : EventPrinter.text(event)) + "\n")
    }
}
