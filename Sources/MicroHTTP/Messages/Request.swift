// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
package import RealmPlatform

/// A request as it was received: its head, which never changes, its body, and the bounds of the work for it.
///
/// `Exchange` makes it when the head is complete, and adds to `body` as that arrives. It lives until the response has been sent
/// or the connection is gone. Its sender and its meaning are the matter of a `Call`.
package final class Request: Sendable {
    /// The method; nil for one that this server does not know.
    package let method: HTTPMethod?
    /// The method as it was sent, for the log.
    package let methodName: String
    /// The request target as it was sent, split but not decoded.
    package let target: RequestTarget
    /// The header fields that have a meaning to this server.
    package let headers: RequestHeaders
    /// The id of the request in responses, problems and the log: the client's own, if it sent a usable one.
    package let id: RequestID
    /// The arrival of the first line of the request.
    package let arrival: Instant
    /// The textual address of the client, which a trusted proxy may have named; empty on a Unix socket, and
    /// `ForwardedSender.unknownName` for a client that cannot be identified.
    package let clientAddress: String
    /// The name under which connections, work and memory of this client are counted together: one per address, see `ClientName`.
    package let client: String
    /// Whether the sender's address belongs to this machine. A proxy on this machine makes it true as well.
    package let isFromThisMachine: Bool
    /// The listener through which the request came.
    package let listenerKind: ListenerKind
    /// Whether the connection is encrypted by this server. Encryption by a proxy does not count.
    package let isSecure: Bool
    /// The certificate that the client has sent, verified or not; nil when there is none, or the server asks for none.
    package let clientCertificate: ClientCertificate?
    /// The memo of the handler about the connection; nil for a request without one.
    package let memo: (any ConnectionMemo)?
    /// Whether the request was sent with HTTP/1.0.
    package let isHTTP10: Bool
    /// The body, as far as it has arrived.
    package let body: RequestBody
    /// The bounds of the work for this request: time, bytes of the response, and objects reached through links.
    package let budget = WorkBudget()

    /// Makes a request whose head is complete.
    ///
    /// - Parameters:
    ///   - methodName: The method as it was sent.
    ///   - headers: The known header fields.
    ///   - id: The id for logs and problems.
    ///   - arrival: The arrival of the first line.
    ///   - clientAddress: The address of the sender as text; empty on a Unix socket.
    ///   - client: The name to count the client under; without it, its address.
    ///   - isFromThisMachine: Whether the sender is this machine; without it, the address decides.
    ///   - listenerKind: The listener through which it came.
    ///   - isSecure: Whether the connection is encrypted by this server.
    ///   - clientCertificate: The certificate of the client.
    ///   - memo: The memo of the handler about the connection.
    ///   - isHTTP10: Whether it is a request of HTTP/1.0.
    ///   - body: The body, which may arrive later.
    package init(
        methodName: String, target: RequestTarget, headers: RequestHeaders, id: RequestID, arrival: Instant,
        clientAddress: String, client: String? = nil, isFromThisMachine: Bool? = nil, listenerKind: ListenerKind = .main,
        isSecure: Bool = false, clientCertificate: ClientCertificate? = nil, memo: (any ConnectionMemo)? = nil,
        isHTTP10: Bool = false, body: RequestBody = RequestBody()
    ) {
        self.methodName = methodName
        method = HTTPMethod(rawValue: methodName)
        self.target = target
        self.headers = headers
        self.id = id
        self.arrival = arrival
        self.clientAddress = clientAddress
        self.client = client ?? clientAddress
        self.isFromThisMachine = isFromThisMachine ?? Request.isOfThisMachine(clientAddress)
        self.listenerKind = listenerKind
        self.isSecure = isSecure
        self.clientCertificate = clientCertificate
        self.memo = memo
        self.isHTTP10 = isHTTP10
        self.body = body
    }

    /// The value of a header field; nil when the request does not have it. Other modules ask the request, because a look at
    /// `headers` copies them.
    package subscript(_ header: RequestHeader) -> String? { headers[header] }

    /// Returns whether the request has a header field.
    package func has(_ header: RequestHeader) -> Bool { headers.has(header) }

    /// Whether a body may follow.
    package var announcesBody: Bool { headers.announcesBody }

    /// The time at which work for this request expires. It is part of `budget`.
    package var deadline: Instant {
        get { budget.deadline }
        set { budget.deadline = newValue }
    }

    /// Whether the client still waits, as far as is known. May be read as long as the connection is suspended, by any thread.
    package var isWanted: Bool { !budget.isCancelled && budget.isStillWanted?() ?? true }

    /// Returns a control that ends work once the client has left.
    ///
    /// - Parameter deadline: The time at which the work expires; nil for no limit.
    package func control(until deadline: Instant? = nil) -> WorkControl {
        WorkControl(deadline: deadline, isWanted: { [self] in isWanted })
    }

    /// Throws the problem of a stopped budget, usually `deadline_exceeded`, when the time for this request has run out.
    package func checkDeadline() throws(Problem) {
        if !budget.continues { throw Problem(budget.stop ?? .expired) }
    }

    /// Returns whether an address is a loopback address of IPv4 or IPv6.
    ///
    /// - Parameter address: An address as text, without a port.
    package static func isOfThisMachine(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }

    /// Whether the body was sent with a content coding other than `identity`.
    package var isPacked: Bool { headers[.contentEncoding].map { $0 != "identity" } ?? false }

    /// The coding in which the client prefers compressed responses: one that `Accept-Encoding` lists with a weight above 0. Nil when it
    /// accepts none.
    package var coding: ContentCoding? { headers[.acceptEncoding].flatMap { ContentCoding.preferred(by: $0) } }
}
