// SPDX-License-Identifier: Apache-2.0

/// An answer before it is sent.
package struct Response: Sendable {
    package var status: Int
    package var headers: [HeaderField]
    package var body: Body
    /// Where the packed form of an answer is kept that is sent more than once.
    var packed: PackedBody?
    /// Whether the connection ends with this answer.
    package var closesConnection = false
    /// Whether a header field names an address that requests have made, which may be of any length.
    private var hasAddress = false

    package enum Body: Sendable {
        case none
        case bytes(OutputBuffer)
        case stream(any ChunkProducer)
        /// Without an end of its own, as events come.
        case events(any EventSource)
    }

    /// Whether the body is made while it is sent, once.
    var isStreamed: Bool {
        switch body {
        case .none, .bytes: return false
        case .stream, .events: return true
        }
    }

    package init(status: Int, headers: [HeaderField] = [], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of one media type.
    package init(status: Int = 200, type: StaticString, _ body: OutputBuffer, headers: [HeaderField] = []) {
        self.init(status: status, body: .bytes(body))
        // Room for what an answer usually carries.
        self.headers.reserveCapacity(10)
        self.headers.append(HeaderField("Content-Type", type))
        self.headers += headers
    }

    package mutating func add(_ name: StaticString, _ value: String) { headers.append(HeaderField(name, text: value)) }

    package mutating func add(_ name: StaticString, constant value: StaticString) {
        headers.append(HeaderField(name, value))
    }

    /// Takes away addresses of objects and pages that are longer than a target may be. No request could name them again, and a
    /// head that has no room in the library's memory would end the connection without an answer.
    mutating func removeAddresses(longerThan byteCount: Int) {
        guard hasAddress else { return }
        headers.removeAll { field in
            guard case .text(let text) = field.value, text.utf8.count > byteCount else { return false }
            return field.name.description == Response.location.description || field.name.description == Response.link.description
        }
    }

    private static let location: StaticString = "Location"
    private static let link: StaticString = "Link"

    /// Tells where what was made is found.
    package mutating func addLocation(_ target: String) {
        hasAddress = true
        add(Response.location, target)
    }

    /// Tells which page comes next.
    mutating func addNextPage(_ target: String) {
        hasAddress = true
        add(Response.link, "<\(target)>; rel=\"next\"")
    }

    package func header(_ name: StaticString) -> String? {
        headers.first { $0.name.description == name.description }?.text
    }
}

/// Makes the body of a streamed answer piece by piece, on whatever worker thread has time.
///
/// Calls never overlap. A producer is let go without notice when the client leaves; `deinit` is the place to clean up.
package protocol ChunkProducer: AnyObject, Sendable {
    /// Appends about `Streaming.chunkBytes` more and tells whether that was the end.
    ///
    /// An error cuts the stream: the client sees that the last chunk is missing.
    func produce(into buffer: OutputBuffer) throws -> Bool
}

/// Sizes of streamed answers.
package enum Streaming {
    /// What a producer aims for in one call.
    package static let chunkBytes = 64 << 10
    /// Finished chunks that wait for the client before the producer rests.
    package static let queuedChunks = 4
}

/// What a handler says about a request.
package enum Reply: Sendable {
    /// Done, on the daemon's thread.
    case now(Response)
    /// To be done by a worker: takes longer than a daemon's thread should be away.
    case work(@Sendable () -> Response)
    /// To be done by the attendant, who has time when all workers are busy: what the server tells of itself.
    case attend(@Sendable () -> Response)
    /// To be done by somebody else, who completes the promise from any thread.
    case later(@Sendable (any ResponsePromise) -> Void)
}

/// The place where an answer that comes later is put, once.
package protocol ResponsePromise: AnyObject, Sendable {
    /// Further calls are ignored.
    func complete(_ response: Response)

    /// Has `action` called when the client closes its side while it waits. It still has to be answered.
    func onLeave(_ action: @escaping @Sendable () -> Void)
}

/// What is decided about a request when its headers are there.
package enum Admission: Sendable {
    /// Take the body, of at most so many bytes before and after inflating.
    ///
    /// With folders a long body goes to a file in the first that takes one, and else into memory.
    case accept(bodyLimit: Int, spoolFolders: [String] = [])
    case refuse(Response)
}

/// The application behind the daemon.
package protocol RequestHandler: Sendable {
    func admit(_ request: Request) -> Admission
    func reply(to request: Request) -> Reply
    /// Adds what every answer carries, compresses, and drops what the method has no use for.
    func finish(_ response: consuming Response, for request: Request) -> Response
    /// The document for a problem.
    func response(to problem: Problem, for request: Request) -> Response
    /// Whether `finish` takes no longer than a daemon's thread may be away.
    func finishesQuickly(_ response: Response, for request: Request) -> Bool
    /// Called once per request after its answer left, or could not; `isComplete` is false when the client went away.
    func didEnd(_ request: Request, status: Int, bytesSent: Int, bytesReceived: Int, isComplete: Bool)
}

extension RequestHandler {
    package func finishesQuickly(_ response: Response, for request: Request) -> Bool { true }
}
