// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The options in the body of a request that begins a transaction. The body may be empty.
struct TransactionOptions {
    /// The longest wait of the request for the writer.
    var wait = Duration.seconds(5)
    /// The time without a request after which the transaction is rolled back; nil for the limit of the server.
    var idle: Duration?
    /// The time after which the transaction is rolled back in any case; nil for the limit of the server.
    var lifetime: Duration?

    /// Reads the body of a request. An empty body leaves all options at their defaults.
    ///
    /// - Parameters:
    ///   - call: The call with the body.
    ///   - limits: The longest durations that the server permits.
    /// - Throws: `invalid_body` for unknown members or anything but an object, `invalid_parameter`
    ///   for a duration above its limit, and for a transaction that would end at once.
    init(_ call: Call, _ limits: WriteLimits) throws(Problem) {
        guard !call.request.body.bytes.isEmpty else { return }
        guard let body = try call.request.body.takeJSON(call.limits.json).object else {
            throw Problem(.invalidBody, "the body must be an object")
        }
        for member in body.members {
            switch member.name {
            case "wait": wait = try TransactionOptions.duration(member, .zero...limits.maximumWait)
            case "idle": idle = try TransactionOptions.duration(member, TransactionOptions.shortest...limits.idleTime)
            case "lifetime": lifetime = try TransactionOptions.duration(member, TransactionOptions.shortest...limits.lifetime)
            default:
                let hint = Suggestion.hint(for: member.name, in: ["wait", "idle", "lifetime"])
                throw Problem(.invalidBody, "a transaction has no '\(member.name.truncated)'\(hint)").with(
                    "pointer", "/" + member.name)
            }
        }
    }

    /// The shortest time after which a transaction may end: one that ended at once could not be used.
    private static let shortest = Duration.milliseconds(1)

    /// Returns the duration that a member has, such as `2s`.
    ///
    /// - Parameters:
    ///   - range: The durations that are permitted.
    /// - Throws: `invalid_parameter` for anything else, with the limit in seconds.
    private static func duration(
        _ member: (name: String, value: JSONValue), _ range: ClosedRange<Duration>
    ) throws(Problem) -> Duration {
        guard let duration = member.value.string.flatMap(DurationText.duration), range.contains(duration) else {
            let least = range.lowerBound == .zero ? "" : "above 0 and "
            let most = DurationText.text(range.upperBound)
            throw Problem.invalidParameter(
                member.name, "'\(member.name)' must be a duration \(least)of at most \(most), such as \"2s\""
            )
            .with("pointer", "/" + member.name).with("limit", .integer(Int64(range.upperBound.inSeconds)))
        }
        return duration
    }
}
