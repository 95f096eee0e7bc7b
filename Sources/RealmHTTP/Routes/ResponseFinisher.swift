// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The last step of every answer: what was read from a file that changed underneath is replaced, long texts are packed, and
/// the header fields that all answers have are added.
struct ResponseFinisher: Sendable {
    private let targetBytes: Int
    private let origins: OriginPolicy
    private let caretaker: RealmCaretaker

    /// The last step of the answers of a server.
    init(_ state: ServerState) {
        targetBytes = state.limits.targetBytes
        origins = state.rules.origins
        caretaker = state.caretaker
    }

    /// The answer as it is sent.
    func finish(_ response: consuming Response, for request: Request) -> Response {
        replaceUnsound(&response, request)
        compress(&response, for: request)
        response.removeAddresses(longerThan: targetBytes)
        response.add("X-Request-Id", request.id.text)
        if let timing = request.timing { response.add("Server-Timing", timing.text) }
        origins.addRules(to: &response, request)
        return response
    }

    /// Whether `finish` has no long text to pack, which would keep a thread of the daemon for milliseconds.
    func finishesQuickly(_ response: Response, for request: Request) -> Bool {
        guard case .bytes(let buffer) = response.body, buffer.count > ResponseFinisher.quicklyPacked, request.takesGzip,
            response.status != 304, response.isCompressible
        else { return true }
        return response.packed?.isKnown ?? false
    }

    /// Longer answers are packed by a worker.
    private static let quicklyPacked = 32 << 10

    /// Answers above 1 KiB are packed for clients that take gzip.
    private func compress(_ response: inout Response, for request: Request) {
        guard response.status != 304, request.takesGzip, response.isCompressible else { return }
        switch response.body {
        case .none, .events: return
        case .bytes(let buffer):
            guard buffer.count > 1024, let packed = response.packed.map({ $0.packed(buffer) }) ?? Gzip.deflate(buffer) else {
                return
            }
            response.body = .bytes(packed)
        case .stream(let producer):
            guard let packed = GzipProducer(producer) else { return }
            response.body = .stream(packed)
        }
        response.add("Content-Encoding", constant: "gzip")
        response.tagAsPacked()
    }

    /// What letting go of a realm answers is not read from its file, which may be gone by then, and rightly so.
    private static func removesRealm(_ request: Request) -> Bool {
        request.method == .delete && request.match.pattern.isRealm
    }

    /// Nothing is sent that was read from a file that is not what it was. Read before it is known, it might be zeros in place
    /// of what is gone.
    private func replaceUnsound(_ response: inout Response, _ request: Request) {
        guard case .ready(let database)? = request.realm, !ResponseFinisher.removesRealm(request) else { return }
        var isWorthALook = response.status >= 500
        if case .stream = response.body { isWorthALook = true }
        // What looks like damage may be a file that somebody is writing to; a long answer is better refused than cut off.
        guard let failure = isWorthALook ? database.health.look() : database.health.failure else {
            if case .stream(let producer) = response.body { response.body = .stream(CheckedProducer(producer, database)) }
            return
        }
        caretaker.fail(database, failure)
        response = Response(Problem(unavailable: failure), for: request)
    }
}

extension Response {
    /// A packed representation has a tag of its own: that of the plain one with `z` behind it.
    fileprivate mutating func tagAsPacked() {
        headers = headers.map { field in
            guard field.name.description == "ETag" else { return field }
            return HeaderField("ETag", text: EntityTag.packed(field.text))
        }
    }

    /// Text of some kind; raw data may be anything.
    fileprivate var isCompressible: Bool {
        guard let type = header("Content-Type") else { return false }
        return !type.hasPrefix("application/octet-stream") && !type.hasPrefix("text/event-stream")
    }
}
