// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What a request for changes asks for.
struct ChangeRequest: Sendable {
    /// What is observed: a definition in the request itself, or a registration.
    enum Source: Sendable {
        case definition(SubscriptionDefinition)
        case registration(String)
        case ticket(String)
    }

    /// What is observed.
    let source: Source
    /// From where on changes are wanted.
    var start: StartPosition
    /// Whether the state at the beginning is part of the answer.
    let wantsSnapshots: Bool
    /// How long a poll waits for changes.
    let waitSeconds: Int
    /// Whether heartbeats of a stream are events rather than comments.
    let sendsHeartbeatEvents: Bool
    /// The media type of the answer.
    let format: ResponseFormat
    /// That of the whole answer.
    var representation = Representation()

    /// The longest that a poll waits: below what proxies bear.
    static let longestWait = 55
    private static let ownNames = ["subscription", "ticket", "since", "wait", "initial", "hb", "format", "snapshot"]

    /// Reads the parameters of a request. A stream that is resumed by its client has its position in `Last-Event-ID`, which
    /// goes before `since`.
    init(_ url: QueryParameters, _ call: Call, _ format: ResponseFormat, isStream: Bool) throws(Problem) {
        let set = try ParameterSet(url, urlNames: SubscriptionDefinition.names + ChangeRequest.ownNames)
        guard !set.has("snapshot") else {
            throw .conflict("a snapshot never changes", parameter: "snapshot")
        }
        self.format = format
        waitSeconds = try set.int("wait", in: 0...ChangeRequest.longestWait) ?? 0
        wantsSnapshots = try ChangeRequest.isTrue(set, "initial")
        sendsHeartbeatEvents = try set.choice("hb", ["comment", "event"]) == "event"
        let since = try set.text("since")
        let lastID = isStream ? call.request.headers[.lastEventID] : nil
        let epoch = try call.database().epoch
        start = StartPosition(lastID.flatMap { $0.isEmpty ? nil : $0 } ?? since, epoch: epoch)
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
        source = try ChangeRequest.source(set, url, call.limits, format: representation.format)
    }

    private static func isTrue(_ set: ParameterSet, _ name: String) throws(Problem) -> Bool {
        guard set.has(name) else { return true }
        return try set.flag(name)
    }

    private static func source(
        _ set: ParameterSet, _ url: QueryParameters, _ limits: Limits, format: Representation.Format
    ) throws(Problem) -> Source {
        let id = try set.text("subscription")
        let ticket = try set.text("ticket")
        guard id != nil || ticket != nil else {
            var definition = try SubscriptionDefinition(set, limits)
            definition.representation.format = format
            return .definition(definition)
        }
        if let name = SubscriptionDefinition.names.first(where: set.has) {
            throw .conflict("'\(name)' cannot stand beside a registration, which has definitions of its own", parameter: name)
        }
        if id != nil, ticket != nil { throw .conflict("'subscription' and 'ticket' exclude each other", parameter: "ticket") }
        return id.map { .registration($0) } ?? .ticket(ticket ?? "")
    }
}
