// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What the body of a beginning says; it may be left out.
struct TransactionWishes {
    /// How long to wait for the writer.
    var wait = Duration.seconds(5)
    /// The time without a request after which the transaction is rolled back; nil for the limit of the server.
    var idle: Duration?
    /// The time after which it is rolled back in any case; nil for the limit of the server.
    var lifetime: Duration?

    /// Reads the body of a request; an empty one has no wishes. Throws for unknown members, and for durations above `limits`.
    init(_ call: WriteCall, _ limits: WriteLimits) throws(Problem) {
        guard !call.request.body.isEmpty else { return }
        guard let body = try call.request.takeJSON(call.limits).object else {
            throw Problem(.invalidBody, "the body has to be an object")
        }
        for member in body.members {
            switch member.name {
            case "wait": wait = try TransactionWishes.duration(member, limits.maximumWait)
            case "idle": idle = try TransactionWishes.duration(member, limits.idleTime)
            case "lifetime": lifetime = try TransactionWishes.duration(member, limits.lifetime)
            default:
                throw Problem(.invalidBody, "a transaction has no '\(member.name)'").with("pointer", "/" + member.name)
            }
        }
    }

    private static func duration(_ member: (name: String, value: JSONValue), _ maximum: Duration) throws(Problem) -> Duration {
        guard let duration = member.value.string.flatMap(DurationText.duration), duration <= maximum else {
            throw Problem.invalidParameter(
                member.name, "'\(member.name)' has to be a duration of at most \(DurationText.text(maximum)), such as \"2s\""
            )
            .with("pointer", "/" + member.name).with("limit", .integer(Int64(maximum.inSeconds)))
        }
        return duration
    }
}
