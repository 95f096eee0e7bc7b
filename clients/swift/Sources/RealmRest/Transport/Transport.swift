import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A credential: an API key or token, or a function that answers one and is asked before each request.
public enum Credential: Sendable {
    case key(String)
    case renewing(@Sendable () async throws -> String)
}

/// A complete answer below 400.
struct Answer: Sendable {
    let status: Int
    let version: String?
    let body: [UInt8]

    func json() throws -> JSON {
        do { return try JSON(parsing: body) } catch { throw ConnectionLost("an answer that is no JSON") }
    }
}

/// Requests to one server: credentials, time-outs, problems, and retries of reads.
final class Transport: Sendable {
    let base: String
    private let credential: Credential?
    private let timeout: Double
    private let attempts: Int
    private let carrier: any Carrier

    init(url: String, credential: Credential?, timeout: Double, attempts: Int) {
        base = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.credential = credential
        self.timeout = timeout
        self.attempts = attempts
        #if os(Linux)
        carrier = CurlCarrier() ?? SessionCarrier()
        #else
        carrier = SessionCarrier()
        #endif
    }

    /// Whether another credential can be had.
    var isRenewable: Bool { if case .renewing = credential { true } else { false } }

    func close() { carrier.close() }

    /// One answer. Only what is `safe`, because it reads, is tried again when the answer does not come.
    func request(
        _ method: String, _ path: String, query: [(String, String)] = [], body: JSON? = nil, headers: [String: String] = [:],
        safe: Bool = false, timeout: Double? = nil
    ) async throws -> Answer {
        var backoff = Backoff()
        while true {
            do {
                return try await once(
                    Call(
                        method: method, path: path, query: query, body: body?.bytes, headers: headers,
                        timeout: timeout ?? self.timeout))
            } catch {
                let wait = (error as? Problem)?.retryAfter
                let mayPass = error is ConnectionLost || (error as? Problem)?.isRetryable == true
                guard safe, mayPass, backoff.failures + 1 < attempts else { throw error }
                try await Task.sleep(for: .seconds(backoff.next(atLeast: wait)))
            }
        }
    }

    func send(_ call: Call) async throws -> Answer { try await once(call) }

    /// An answer whose body is read as it comes.
    func open(_ path: String, query: [(String, String)], headers: [String: String], silence: Double) async throws -> Body {
        let call = Call(method: "GET", path: path, query: query, body: nil, headers: headers, timeout: silence)
        let body = try await start(call, within: .head(silence))
        guard body.status >= 400 else { return body }
        var bytes: [UInt8] = []
        for try await piece in body.pieces { bytes += piece }
        throw Self.problem(body, bytes)
    }

    private func once(_ call: Call) async throws -> Answer {
        let body = try await start(call, within: .whole(call.timeout))
        var bytes: [UInt8] = []
        for try await piece in body.pieces { bytes += piece }
        // A cancelled reader sees an early end, not an error.
        try Task.checkCancellation()
        guard body.status < 400 else { throw Self.problem(body, bytes) }
        return Answer(status: body.status, version: body.headers["realm-version"], body: bytes)
    }

    private func start(_ call: Call, within limit: TimeLimit) async throws -> Body {
        var text = base + call.path
        if !call.query.isEmpty {
            text += "?" + call.query.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
        }
        guard let url = URL(string: text) else { throw ConnectionLost("'\(base)' is no address of a server") }
        var request = URLRequest(url: url)
        request.httpMethod = call.method
        // The carrier keeps the time; URLSession counts differently on different systems.
        request.timeoutInterval = 3600
        for (name, value) in call.headers { request.setValue(value, forHTTPHeaderField: name) }
        if let body = call.body {
            request.httpBody = Data(body)
            if call.headers["Content-Type"] == nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        }
        switch credential {
        case .key(let key): request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        case .renewing(let ask): request.setValue("Bearer \(try await ask())", forHTTPHeaderField: "Authorization")
        case nil: break
        }
        return try await carrier.start(request, within: limit)
    }

    private static func problem(_ body: Body, _ bytes: [UInt8]) -> Problem {
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        let document = (try? JSON(parsing: bytes)) ?? .object(["detail": .string(text)])
        return Problem(status: body.status, body: document, retryAfter: body.headers["retry-after"].flatMap(Double.init))
    }
}

/// What is asked of the server.
struct Call: Sendable {
    var method = "GET"
    var path: String
    var query: [(String, String)] = []
    var body: [UInt8]?
    var headers: [String: String] = [:]
    var timeout: Double
}

/// One part of a path, or of a query: everything but unreserved characters encoded, so that a slash in a key stays data.
func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var output: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            output.append(byte)
        default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: output, as: UTF8.self)
}

/// Growing pauses with jitter, so that the clients of a server that comes back do not come all at once.
struct Backoff {
    private(set) var failures = 0
    private let longest: Double

    init(longest: Double = 30) { self.longest = longest }

    mutating func reset() { failures = 0 }

    /// The next pause in seconds, not below what the server asked for.
    mutating func next(atLeast: Double? = nil) -> Double {
        let ceiling = min(longest, 0.25 * Double(1 << min(failures, 16)))
        failures += 1
        return Double.random(in: ceiling / 4...ceiling) + min(atLeast ?? 0, 60)
    }
}
