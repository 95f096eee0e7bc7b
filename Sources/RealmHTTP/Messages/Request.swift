// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmStorage

/// One request as handlers see it; complete once its body has arrived.
///
/// `@unchecked Sendable`: the daemon's thread fills it before any handler runs; after that nobody changes it but the one
/// handler it was given to.
package final class Request: @unchecked Sendable {
    /// Nil for a method this server does not know.
    package let method: HTTPMethod?
    /// The method as it was sent, for the log.
    package let methodName: String
    /// The target as it was sent.
    package let target: RequestTarget
    /// The known header fields.
    package let headers: RequestHeaders
    /// The id of the request in answers, problems and log: that of the client if it sent a usable one.
    package let id: RequestID
    /// When the first line of the request had arrived.
    package let arrival: Instant
    /// The textual address of the client; empty on a Unix socket.
    package let clientAddress: String
    /// Whose work this counts among where clients share what there is: those of one address, as long as there are no
    /// credentials.
    package let client: String
    /// Whether it was sent from this machine, by the address of its sender.
    package let isFromThisMachine: Bool
    /// Whether it was sent as HTTP/1.0.
    package let isHTTP10: Bool
    /// The listener it came by.
    package let entrance: Entrance
    /// What its body, and what it became, takes of the memory for bodies; nil where nobody counts.
    var holding: ByteHolding?
    /// The body, with its content coding undone.
    package var body: [UInt8] = []
    /// A long body, as it came, in place of `body`.
    package var bodyFile: BodyFile?
    /// The room that files of this request take their part of.
    var spool: SpoolRoom?
    /// Whether there is no body, neither in memory nor in a file.
    package var hasNoBody: Bool { body.isEmpty && bodyFile == nil }
    /// What work for this request may cost.
    package let budget = WorkBudget()
    /// When work for this request has to be given up.
    package var deadline: Instant {
        get { budget.deadline }
        set { budget.deadline = newValue }
    }
    /// What the target leads to; known once the request was let in.
    package var match: PathMatch
    /// The realm that the path names, as it was when the request was let in.
    package var realm: Catalog.State?
    /// Where the time went, when answers tell.
    package var timing: ServerTiming?
    /// The predicate, for the log at its lowest level; never with its arguments.
    package var query: String?
    /// The version an answer was made from, for the log.
    package var version: String?
    /// Whether it is about a version that the client holds, which may end before the version does.
    package var readsSnapshot = false

    /// A request whose head is complete.
    ///
    /// `client` and `isFromThisMachine` follow from the address where they are not given. The route is not looked up yet: the
    /// handler does that when it admits the request.
    package init(
        methodName: String, target: RequestTarget, headers: RequestHeaders, id: RequestID, arrival: Instant,
        clientAddress: String, client: String? = nil, isFromThisMachine: Bool? = nil, isHTTP10: Bool, entrance: Entrance = .main
    ) {
        self.methodName = methodName
        method = HTTPMethod(rawValue: methodName)
        self.target = target
        match = PathMatch(.none, index: 0, target)
        self.headers = headers
        self.id = id
        self.arrival = arrival
        self.clientAddress = clientAddress
        self.client = client ?? clientAddress
        self.isFromThisMachine = isFromThisMachine ?? Request.isOfThisMachine(clientAddress)
        self.isHTTP10 = isHTTP10
        self.entrance = entrance
    }

    /// Whether an address is one of this machine.
    package static func isOfThisMachine(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }

    /// The body as JSON. The memory that it takes is held for this request before it is parsed.
    func readJSON(_ limits: Limits) throws(Problem) -> JSONValue {
        var refusal: Problem?
        do throws(JSONError) {
            return try JSONParser.parse(body, limits.json) { count in
                refusal = refusalOfMemory(count * Request.bytesPerValue)
                return refusal == nil
            }
        } catch {
            throw refusal ?? Problem(error)
        }
    }

    /// Holds so many bytes of the memory for bodies; the problem when there is not enough of it.
    private func refusalOfMemory(_ byteCount: Int) -> Problem? {
        do throws(Problem) {
            try holding?.require(byteCount)
            return nil
        } catch {
            return error
        }
    }

    /// The same for a body that nobody reads again: its text is let go of.
    func takeJSON(_ limits: Limits) throws(Problem) -> JSONValue {
        let value = try readJSON(limits)
        forgetBody()
        return value
    }

    /// What a parsed value takes on average.
    static let bytesPerValue = 128

    /// Lets go of the text of a body that was read.
    func forgetBody() {
        holding?.shrink(by: body.count)
        body = []
    }

    /// Throws `deadline_exceeded` when the time for this request is over.
    package func checkDeadline() throws(Problem) {
        if !budget.goesOn { throw Problem(budget.stop ?? .expired) }
    }
}
