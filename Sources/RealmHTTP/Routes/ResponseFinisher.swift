// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The last step of every response.
///
/// A response read from a file that another program has changed is replaced by a problem, long texts are packed, and the common
/// header fields are added.
struct ResponseFinisher: Sendable {
    /// The parts that the requests of the server share.
    private let server: ServerState
    /// The longest request target, in bytes; links of a response that are longer are left out,
    /// since the server would reject them.
    private let targetBytes: Int

    /// Takes the rules and limits of a server.
    init(_ server: ServerState) {
        self.server = server
        targetBytes = server.limits.http.targetBytes
    }

    /// Returns the response as it is sent.
    ///
    /// - Parameters:
    ///   - response: The response as the endpoint made it.
    ///   - call: The request that it belongs to.
    func finish(_ response: consuming Response, for call: Call) -> Response {
        replaceOutdated(&response, call)
        replaceUnsound(&response, call)
        indent(&response, for: call)
        compress(&response, for: call)
        response.removeAddresses(longerThan: targetBytes)
        response.add("X-Request-Id", call.request.id.text)
        if let timing = call.timing { response.add("Server-Timing", timing.text) }
        if call.request.isSecure, let rule = server.tls?.strictTransport { response.add("Strict-Transport-Security", rule) }
        if server.authenticator.hasCredentials || call.caller.principal.logName != nil { response.restrictToClient() }
        server.rules.origins.addRules(to: &response, call.request)
        return response
    }

    /// Returns whether `finish(_:for:)` has no long text to pack, which would occupy a thread of the daemon for milliseconds.
    ///
    /// A response from the cache whose packed form is known already needs no packing either.
    ///
    /// - Parameters:
    ///   - response: The response as the endpoint made it.
    ///   - call: The request, which states which codings the client accepts.
    func finishesQuickly(_ response: Response, for call: Call) -> Bool {
        guard case .bytes(let buffer) = response.body, buffer.count > ResponseFinisher.quicklyPacked,
            response.status != 304, response.isCompressible, call.request.coding != nil || call.request.target.wantsIndentation
        else { return true }
        guard !call.request.target.wantsIndentation, let coding = call.request.coding else { return false }
        return response.packed?.isKnown(coding) ?? false
    }

    /// Texts above this many bytes are packed by a worker.
    private static let quicklyPacked = 32 << 10
    /// Texts up to this many bytes are sent as they are.
    private static let neverPacked = 1 << 10

    /// Puts JSON on several lines, for clients that request it with the parameter `pretty`. Its entity tag differs from that of
    /// the usual form.
    private func indent(_ response: inout Response, for call: Call) {
        guard response.status != 304, call.request.target.wantsIndentation, response.isJSON else { return }
        switch response.body {
        case .none, .events: return
        case .bytes(let buffer):
            let indented = OutputBuffer(capacity: buffer.count * 2)
            var indenter = JSONIndenter()
            indenter.append(buffer.array, to: indented)
            indenter.end(in: indented)
            response.body = .bytes(indented)
        case .stream(let producer): response.body = .stream(IndentProducer(producer))
        }
        response.packed = nil
        response.tag(EntityTag.indented)
    }

    /// Packs a text of more than 1 KiB in the coding that the client prefers.
    ///
    /// Streams of any length are packed chunk by chunk; streams of events are never packed. Where packing does not succeed, the
    /// response stays as it is.
    private func compress(_ response: inout Response, for call: Call) {
        if case .bytes(let buffer) = response.body, buffer.count <= ResponseFinisher.neverPacked { return }
        guard response.status != 304, let coding = call.request.coding, response.isCompressible else { return }
        switch response.body {
        case .none, .events: return
        case .bytes(let buffer):
            guard let packed = response.packed.map({ $0.packed(buffer, coding) }) ?? coding.compress(buffer) else {
                return
            }
            response.body = .bytes(packed)
        case .stream(let producer):
            guard let packed = PackingProducer(producer, coding) else { return }
            response.body = .stream(packed)
        }
        response.add("Content-Encoding", constant: coding.name)
        response.tag { EntityTag.packed($0, coding) }
    }

    /// Replaces the response to a read that waited while its credential was revoked, or its rights changed. Finished writes are
    /// reported, even to a client that has ended its own credential.
    private func replaceOutdated(_ response: inout Response, _ call: Call) {
        guard response.status < 400, let problem = call.standing.problemOfReading,
            RouteTable.route(of: call).onlyReads(call.request.method)
        else { return }
        response = Response(problem, for: call)
    }

    /// Returns whether a request detaches a realm.
    ///
    /// The response to it is not read from the realm's file, which may rightly be gone by then.
    private static func removesRealm(_ call: Call) -> Bool {
        call.request.method == .delete && call.match.pattern.isRealm
    }

    /// Replaces a response that was read from a file which another program has changed, and lets the realm fail.
    ///
    /// Bytes that the file has lost are read as zeros, so the contents cannot be trusted. The file itself is examined before
    /// streams and before server errors, which may come from a file that is being overwritten; all others rely on the known
    /// state. A stream is examined again while it is sent.
    private func replaceUnsound(_ response: inout Response, _ call: Call) {
        guard case .ready(let database)? = call.realm, !ResponseFinisher.removesRealm(call) else { return }
        var isWorthALook = response.status >= 500
        if case .stream = response.body { isWorthALook = true }
        // Apparent damage may be another program writing to the file; a long response is better rejected than cut off.
        guard let failure = isWorthALook ? database.health.checkFile() : database.health.failure else {
            if case .stream(let producer) = response.body {
                let source = producer.completeByteCount == nil ? database : nil
                response.body = .stream(CheckedProducer(producer, source, call.standing))
            }
            return
        }
        response = Response(server.supervisor.problem(of: database, failure), for: call)
    }
}

extension Response {
    /// Marks the entity tag as that of another representation, such as the packed one, which has to differ from the tag of the
    /// plain one.
    ///
    /// - Parameter mark: Returns the tag of the other representation.
    fileprivate mutating func tag(_ mark: (String) -> String) {
        headers = headers.map { field in
            guard field.name.description == "ETag" else { return field }
            return HeaderField("ETag", text: mark(field.text))
        }
    }

    /// Whether the body is one JSON document.
    fileprivate var isJSON: Bool {
        guard let type = header("Content-Type") else { return false }
        let essence = type.prefix { $0 != ";" && $0 != " " }
        return essence == "application/json" || essence == "application/ejson" || essence.hasSuffix("+json")
    }

    /// States that shared caches must not keep the response, unless it already has rules for caches.
    fileprivate mutating func restrictToClient() {
        let isStated = headers.contains { $0.name.utf8CodeUnitCount == 13 && $0.name.description == "Cache-Control" }
        if !isStated { add("Cache-Control", constant: "private") }
    }

    /// Whether the body is text of some kind. Raw data may be packed already, parts of it are counted in
    /// plain bytes, and events must not wait for more.
    fileprivate var isCompressible: Bool {
        guard let type = header("Content-Type"), header("Accept-Ranges") == nil else { return false }
        return !type.hasPrefix("application/octet-stream") && !type.hasPrefix("text/event-stream")
            && !type.hasPrefix("application/vnd.openxmlformats")
    }
}

/// A stream that is cut off when another program has changed the file that it is read from, or when the scope of its sender has
/// changed.
///
/// The `ResponseFinisher` puts it around each streamed response that reads a realm.
private final class CheckedProducer: ChunkProducer {
    /// The stream that makes the chunks.
    private let producer: any ChunkProducer
    /// The realm that the stream reads, with the state of its file; nil for one that reads a copy.
    private let database: Database?
    private let standing: Standing

    /// Wraps a stream.
    ///
    /// - Parameters:
    ///   - producer: The stream, which is called for each chunk.
    ///   - database: The realm that it reads; nil for one that reads a copy.
    init(_ producer: any ChunkProducer, _ database: Database?, _ standing: Standing) {
        self.standing = standing
        self.producer = producer
        self.database = database
    }

    var completeByteCount: Int? { producer.completeByteCount }

    /// Produces the next chunk, then examines the file, at most every 20 milliseconds per realm.
    ///
    /// - Parameter buffer: The buffer that the chunk is appended to.
    /// - Returns: Whether this was the end.
    /// - Throws: The error of the stream, or the reason why the file can no longer be read. In both cases the chunk is not sent
    ///   and the client sees a stream that is cut off.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        let isEnd = try producer.produce(into: buffer)
        if let problem = standing.problemOfReading { throw problem }
        if let failure = database?.health.checkFileIfDue(.now()) { throw failure }
        return isEnd
    }
}

/// A producer that puts the JSON which another producer makes on several lines, for clients that ask for `pretty`.
///
/// `@unchecked Sendable`: calls of a producer never overlap.
private final class IndentProducer: ChunkProducer, @unchecked Sendable {
    private let source: any ChunkProducer
    private var indenter = JSONIndenter()

    /// Indents the output of another producer, which must not be used otherwise.
    init(_ source: any ChunkProducer) { self.source = source }

    /// Appends the indented form of the next chunk.
    ///
    /// - Parameter buffer: Receives the bytes.
    /// - Returns: Whether this was the end of the body.
    /// - Throws: The error of the source.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        let plain = OutputBuffer(capacity: Streaming.chunkBytes + (8 << 10))
        let isEnd = try source.produce(into: plain)
        indenter.append(plain.array, to: buffer)
        if isEnd { indenter.end(in: buffer) }
        return isEnd
    }
}
