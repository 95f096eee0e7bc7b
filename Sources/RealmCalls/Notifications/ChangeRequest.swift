// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parameters of `GET …/changes`: the observed definition, the position, and the form of delivery.
package struct ChangeRequest: Sendable {
    /// The source of the definition: the request itself, or a registration that is named by its id or its ticket.
    package enum Source: Sendable {
        case definition(SubscriptionDefinition)
        /// The request names a registration by its id.
        case registration(String)
        /// The request names a registration by its secret ticket.
        case ticket(String)
    }

    /// The definition or registration that the request observes.
    package let source: Source
    /// The position from which the client wants changes.
    package var start: StartPosition
    /// Whether a client without a position gets the current state first.
    package let wantsSnapshots: Bool
    /// The seconds that a poll waits for changes; 0 does not wait.
    package let waitSeconds: Int
    /// Whether heartbeats of a stream are events with the position, rather than comments.
    package let sendsHeartbeatEvents: Bool
    /// The media type that was negotiated for the response to the request for changes.
    package let format: ResponseFormat
    /// The representation of the whole response, which a registration needs to have in plain JSON.
    package var representation = Representation()

    /// The maximum number of seconds that a poll waits. It is below the usual time-out of proxies, 60 seconds.
    package static let longestWait = 55

    /// Reads the parameters of a request.
    ///
    /// - Parameters:
    ///   - call: The request. The header field `Last-Event-ID` of a stream takes precedence over
    ///     the parameter `since`, because browsers send it when they reconnect.
    ///   - format: The negotiated media type.
    ///   - isStream: Whether the client accepts `text/event-stream`.
    /// - Throws: `invalid_parameter` and `conflicting_parameters`, for example for `snapshot`,
    ///   since a snapshot never changes.
    package init(_ url: QueryParameters, _ call: Call, _ format: ResponseFormat, isStream: Bool) throws(Problem) {
        guard url["snapshot"] == nil else { throw .conflict("a snapshot never changes", parameter: "snapshot") }
        let className = call.match.pattern.position(of: .class) == nil ? nil : try call.match[.class]
        let set = try ParameterSet(url, urlNames: call.queryNames)
        self.format = format
        waitSeconds = try set.int("wait", in: 0...ChangeRequest.longestWait) ?? 0
        wantsSnapshots = try ChangeRequest.isTrue(set, "initial")
        sendsHeartbeatEvents = try set.choice("hb", ["comment", "event"]) == "event"
        let since = try set.text("since")
        let lastID = isStream ? call.request[.lastEventID] : nil
        let epoch = try call.database().epoch
        start = StartPosition(lastID.flatMap { $0.isEmpty ? nil : $0 } ?? since, epoch: epoch)
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
        source = try ChangeRequest.source(set, className, call.limits, format: representation.format)
    }

    /// Reads a flag whose value is true when the parameter is missing.
    private static func isTrue(_ set: ParameterSet, _ name: String) throws(Problem) -> Bool {
        guard set.has(name) else { return true }
        return try set.flag(name)
    }

    /// Reads the definition, or the id or ticket of a registration. These exclude each other.
    ///
    /// - Parameters:
    ///   - className: The class that the path names; nil for none.
    ///   - limits: The limits of the server.
    ///   - format: The negotiated media type.
    private static func source(
        _ set: ParameterSet, _ className: String?, _ limits: Limits, format: Representation.Format
    ) throws(Problem) -> Source {
        let id = try set.text("subscription")
        let ticket = try set.text("ticket")
        guard id != nil || ticket != nil else {
            var definition = try SubscriptionDefinition(set, limits, className: className)
            definition.representation.format = format
            return .definition(definition)
        }
        if let name = SubscriptionDefinition.names.first(where: set.has) {
            throw .conflict("'\(name)' cannot be combined with a registration, which has its own definitions", parameter: name)
        }
        if id != nil, ticket != nil { throw .conflict("'subscription' and 'ticket' cannot be combined", parameter: "ticket") }
        return id.map { .registration($0) } ?? .ticket(ticket ?? "")
    }
}
