// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A response before it is sent.
///
/// An endpoint makes it; the `ResponseFinisher` completes it; a `Transmission` gives it to the daemon.
package struct Response: Sendable {
    /// The HTTP status code.
    package var status: Int
    /// The header fields in the order in which they are sent. The daemon adds those that frame the
    /// body, such as `Content-Length`.
    package var headers: [HeaderField]
    /// The body, or its producer.
    package var body: Body
    /// Holds the compressed form of a body that is sent more than once; nil for responses that are sent once.
    package var packed: PackedBody?
    /// The code of the problem in the response; nil for any other response.
    package var problem: ProblemCode?
    /// The effect of the request, as far as a repetition with the same `Idempotency-Key` depends on it.
    package var effect = Effect.done
    /// Whether the server closes the connection after this response.
    package var closesConnection = false
    /// Whether the response is a page of this server or a part of one, whose header fields already state the rules for browsers.
    package var isPage = false
    /// Whether the response reports finished work. It is sent without its document, rather than replaced by a problem, when
    /// memory is short.
    package var standsWithoutBody = false
    /// Whether a header field contains a URL that a request has determined, which can have any length.
    private var hasAddress = false

    /// The effect of a request that is answered.
    package enum Effect: Sendable {
        /// It was carried out.
        case done
        /// It was refused, and nothing has changed.
        case refused
        /// It was refused for a reason that may pass, and nothing has changed.
        case refusedForNow
        /// It was refused, and a part of it was carried out. The document states that without anything about data.
        case partial(OutputBuffer)

        /// Whether the request has changed nothing.
        package var isRefusal: Bool {
            switch self {
            case .refused, .refusedForNow: true
            case .done, .partial: false
            }
        }
    }

    /// The content of a response, in one of the forms in which it can be sent.
    package enum Body: Sendable {
        /// No content.
        case none
        /// Content that is complete in memory. The buffer must no longer change.
        case bytes(OutputBuffer)
        /// Content that workers produce piece by piece while it is sent.
        case stream(any ChunkProducer)
        /// Content without an end: notifications as Server-Sent Events.
        case events(any EventSource)
    }

    /// Whether the body is produced while it is sent, so that it exists only once and its length is not known.
    package var isStreamed: Bool {
        switch body {
        case .none, .bytes: return false
        case .stream, .events: return true
        }
    }

    /// Makes a response of its parts.
    ///
    /// - Parameters:
    ///   - status: The HTTP status code.
    ///   - headers: The header fields, with `Content-Type` if there is a body.
    ///   - body: The content.
    package init(status: Int, headers: [HeaderField] = [], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response with content that is complete in memory.
    ///
    /// - Parameters:
    ///   - status: The HTTP status code.
    ///   - type: The media type, sent as the first header field.
    ///   - body: The content, which must not be changed after this.
    ///   - headers: Additional header fields.
    package init(status: Int = 200, type: StaticString, _ body: OutputBuffer, headers: [HeaderField] = []) {
        self.init(status: status, body: .bytes(body))
        // Most responses have at most ten header fields.
        self.headers.reserveCapacity(10)
        self.headers.append(HeaderField("Content-Type", type))
        self.headers += headers
    }

    /// Appends a header field whose value was made for this response.
    ///
    /// - Parameters:
    ///   - name: The name as it is sent.
    ///   - value: The value, without line breaks.
    package mutating func add(_ name: StaticString, _ value: String) { headers.append(HeaderField(name, text: value)) }

    /// Appends a header field with a constant value, without making a string.
    ///
    /// - Parameters:
    ///   - name: The name as it is sent.
    package mutating func add(_ name: StaticString, constant value: StaticString) {
        headers.append(HeaderField(name, value))
    }

    /// Removes `Location` and `Link` fields that are longer than a request target may be.
    ///
    /// No request could use such a URL, and a header section that does not fit into the memory of
    /// the HTTP library would end the connection without a response.
    ///
    /// - Parameter byteCount: The greatest length in bytes that stays.
    package mutating func removeAddresses(longerThan byteCount: Int) {
        guard hasAddress else { return }
        headers.removeAll { field in
            guard case .text(let text) = field.value, text.utf8.count > byteCount else { return false }
            return field.name.description == Response.location.description || field.name.description == Response.link.description
        }
    }

    private static let location: StaticString = "Location"
    private static let link: StaticString = "Link"

    /// Appends `Location`: the place of the resource that the request created.
    package mutating func addLocation(_ target: String) {
        hasAddress = true
        add(Response.location, target)
    }

    /// Appends `Link` with the relation `next`: where the client finds the following page.
    ///
    /// - Parameter target: An absolute path with everything percent-encoded that needs it.
    package mutating func addNextPage(_ target: String) {
        hasAddress = true
        add(Response.link, "<\(target)>; rel=\"next\"")
    }

    /// Removes the document, as `Prefer: return=minimal` does, and the header fields that describe it.
    package mutating func removeDocument() {
        body = .none
        if status == 200 { status = 204 }
        let fields = [Response.type.description, Response.encoding.description]
        headers.removeAll { fields.contains($0.name.description) }
    }

    private static let type: StaticString = "Content-Type"
    private static let encoding: StaticString = "Content-Encoding"

    /// Returns the value of a header field of this response.
    ///
    /// - Parameter name: The name, spelled exactly as it was added.
    /// - Returns: The value of the first such field; nil when there is none.
    package func header(_ name: StaticString) -> String? {
        headers.first { $0.name.description == name.description }?.text
    }
}
