// SPDX-License-Identifier: Apache-2.0

/// An answer before it is sent.
package struct Response: Sendable {
    /// The status code.
    package var status: Int
    /// The header fields in the order in which they are sent. Those that frame the body are added by the daemon.
    package var headers: [HeaderField]
    /// The body, or how it is made.
    package var body: Body
    /// Where the packed form of an answer is kept that is sent more than once.
    var packed: PackedBody?
    /// Whether the connection ends with this answer.
    package var closesConnection = false
    /// Whether a header field names an address that requests have made, which may be of any length.
    private var hasAddress = false

    /// The forms that a body may have.
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

    /// An answer made of its parts.
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

    /// Adds a field whose value was made for this answer.
    package mutating func add(_ name: StaticString, _ value: String) { headers.append(HeaderField(name, text: value)) }

    /// Adds a field with a constant value, without a string being made.
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

    /// The value of the first field of a name, spelt exactly like this; nil when there is none.
    package func header(_ name: StaticString) -> String? {
        headers.first { $0.name.description == name.description }?.text
    }
}
