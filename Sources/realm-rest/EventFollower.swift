// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmHTTP
internal import RealmPlatform
internal import RealmStorage
internal import WebClient

/// A client for streams of events, used by the command line. Each call of `follow` opens one connection, and a later call
/// continues where the last one ended.
///
/// It speaks HTTP and HTTPS through libcurl, and one thread uses it.
final class EventFollower {
    /// One event of a stream.
    struct Event {
        /// The type of the event; empty when the stream does not state one.
        var name = ""
        /// The id of the event, which is a position to continue from; nil when it has none.
        var id: String?
        /// The data of the event, with its lines joined.
        var data = ""
    }

    /// The reason why a connection could not be used.
    struct Failure: Error, CustomStringConvertible {
        /// A sentence for the command line. It has no secret.
        let description: String
        /// Whether a later attempt may succeed, because the cause is a broken connection or a busy server.
        let isPassing: Bool
    }

    /// The URL of the stream.
    private let url: String
    /// The API key or token that is sent; nil for none.
    private let credential: String?
    /// The path of a file with the only authorities whose certificates are trusted; nil for those of the system.
    private let certificateAuthority: String?
    /// Whether the server is on this machine, so that no proxy is asked.
    private let isLocal: Bool
    /// The id of the last event that had one, or the position that the stream was begun from.
    private(set) var lastID: String?

    /// The seconds without any byte after which a connection counts as broken. Servers send heartbeats at least every minute, so
    /// several have been missed by then.
    private static let patienceSeconds = 200
    /// The greatest length of a credential in bytes.
    private static let credentialLimit = 64 << 10
    /// The greatest length of a problem document that is read.
    private static let problemBytes = 64 << 10
    /// The greatest length of an event, and of a rest that is no event yet.
    private static let eventBytes = 1 << 30

    /// Prepares to follow a stream. Nothing is sent before `follow`.
    ///
    /// - Parameters:
    ///   - url: The address of the stream, `https://host:port/path?query`; the port may be left out.
    ///   - position: The id of the event after which to begin; nil to begin as the server decides.
    ///   - credential: The API key or token to send; nil for none.
    ///   - certificateAuthority: The path of a file with the only authorities whose certificates are trusted; nil for those of
    ///     the system.
    /// - Throws: `Failure` when the URL does not have this form, or the credential cannot be sent.
    init(
        url: String, from position: String?, credential: String? = nil, certificateAuthority: String? = nil
    ) throws(Failure) {
        guard let prefix = ["http://", "https://"].first(where: { url.utf8.starts(with: $0.utf8) }) else {
            throw Failure(description: "the URL must begin with http:// or https://", isPassing: false)
        }
        let rest = url.dropFirst(prefix.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // The part before an @ may be a secret, so no part of the URL is in the message.
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw Failure(
                description:
                    "a URL has no place for a key: put it into a file for --api-key-file, or into \(EventFollower.variable)",
                isPassing: false)
        }
        let colon = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        let host = authority[..<(colon ?? authority.endIndex)]
        let hasPort = colon.map { UInt16(authority[authority.index(after: $0)...]) != nil } ?? true
        guard !host.isEmpty, hasPort, !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) else {
            throw Failure(description: "'\(url.truncated)' is no URL of a server", isPassing: false)
        }
        if let credential {
            guard (1...EventFollower.credentialLimit).contains(credential.utf8.count),
                credential.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
            else { throw Failure(description: "the API key is one line of visible characters", isPassing: false) }
        }
        self.url = url
        self.credential = credential
        self.certificateAuthority = certificateAuthority
        isLocal = host == "localhost" || host == "[::1]" || host.utf8.starts(with: "127.".utf8)
        lastID = position
    }

    /// The variable of the environment that has the API key.
    static let variable = "REALM_REST_API_KEY"

    /// Connects, and calls a closure for each event until it returns false or the stream ends.
    ///
    /// The calling thread waits as long as the stream lasts.
    ///
    /// - Parameter handle: Called for each event in order, on the calling thread; false ends the connection.
    /// - Throws: `Failure` when the server cannot be reached or refuses, and the errors of `handle`.
    func follow(_ handle: (Event) throws -> Bool) throws {
        let reading = Reading()
        let answer: WebAnswer
        do {
            let transfer = try CurlTransfer()
            answer = try withoutActuallyEscaping(handle) { handle in
                try transfer.send(
                    request { [self] bytes in
                        do {
                            return try reading.take(bytes) { event in
                                if let id = event.id { lastID = id }
                                return try handle(event)
                            }
                        } catch {
                            reading.error = error
                            return false
                        }
                    }, nil)
            }
        } catch let error as CurlTransfer.Failure {
            if let error = reading.error { throw error }
            if reading.isOver { return }
            throw EventFollower.failure(error)
        }
        guard answer.status == 200, EventFollower.isStream(answer) else { throw EventFollower.refusal(answer) }
    }

    /// Returns the request, whose answer goes to `stream` if it is a stream of events.
    private func request(_ stream: @escaping ([UInt8]) -> Bool) -> WebRequest {
        var request = WebRequest(method: "GET", url: url)
        request.fields = [("Accept", "text/event-stream")]
        if let credential { request.fields.append(("Authorization", "Bearer " + credential)) }
        if let lastID { request.fields.append(("Last-Event-ID", lastID.filter { !$0.isNewline })) }
        request.certificateAuthority = certificateAuthority
        request.maximumAnswerByteCount = EventFollower.problemBytes
        request.silentSeconds = EventFollower.patienceSeconds
        request.isDirect = isLocal
        request.stream = { answer, bytes in EventFollower.isStream(answer) ? stream(bytes) : nil }
        return request
    }

    /// The received part of an incomplete event.
    private final class Reading {
        /// The bytes.
        private var rest: [UInt8] = []
        /// The error of the receiver of events.
        var error: (any Error)?
        /// Whether the receiver wants no more events.
        private(set) var isOver = false

        /// Adds bytes, and passes on the events that are whole; returns whether more are wanted.
        func take(_ bytes: [UInt8], _ handle: (Event) throws -> Bool) throws -> Bool {
            guard rest.count + bytes.count <= EventFollower.eventBytes else {
                throw Failure(description: "an event has more than \(EventFollower.eventBytes) bytes", isPassing: false)
            }
            // The rest has no end of an event, but may end with the first half of one.
            var searched = max(0, rest.count - 1)
            rest += bytes
            var start = 0
            while let range = rest[searched...].firstRange(of: [0x0a, 0x0a]) {
                let event = EventFollower.parse(String(decoding: rest[start..<range.lowerBound], as: UTF8.self))
                (start, searched) = (range.upperBound, range.upperBound)
                guard try handle(event) else {
                    isOver = true
                    return false
                }
            }
            rest.removeFirst(start)
            return true
        }
    }

    /// Reads the lines of one event. Comments, which begin with a colon, are skipped.
    private static func parse(_ text: String) -> Event {
        var event = Event()
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            switch line[..<colon] {
            case "event": event.name = String(value)
            case "id": event.id = String(value)
            case "data": event.data += value
            default: break
            }
        }
        return event
    }

    // MARK: - Failures

    private static func isStream(_ answer: WebAnswer) -> Bool {
        answer.fields["content-type"]?.utf8.starts(with: "text/event-stream".utf8) ?? false
    }

    /// Returns why a connection failed.
    private static func failure(_ error: CurlTransfer.Failure) -> Failure {
        switch error {
        case .stopped(let error): return Failure(description: "\(error)", isPassing: false)
        case .network(let text, let isLasting):
            return Failure(description: "the server cannot be followed: \(text)", isPassing: !isLasting)
        }
    }

    /// Returns a refusal in words: the detail of the problem with its code, or the beginning of another body.
    private static func refusal(_ answer: WebAnswer) -> Failure {
        let isPassing = [423, 429, 503].contains(answer.status)
        let notThere = "this is not a stream of changes; those are at /v1/realms/{realm}/changes"
        guard answer.status != 200, answer.status != 406 else { return Failure(description: notThere, isPassing: false) }
        let body = String(decoding: answer.body, as: UTF8.self)
        guard let problem = try? JSONParser.parse(body, depthLimit: 64).object, let detail = problem["detail"]?.string else {
            return Failure(description: "the server answers \(answer.status): \(body.truncated)", isPassing: isPassing)
        }
        var text = "\(answer.status) \(problem["code"]?.string ?? ""): \(detail)"
        if answer.status == 401 { text += ". An API key is taken from --api-key-file FILE or \(variable)" }
        return Failure(description: text, isPassing: isPassing)
    }
}
