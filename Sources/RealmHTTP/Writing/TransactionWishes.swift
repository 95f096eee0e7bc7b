// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What the body of a beginning says; it may be left out.
struct TransactionWishes {
    var wait = 5.0
    var idle: Double?
    var lifetime: Double?

    init(_ call: Call, _ limits: WriteLimits) throws(Problem) {
        guard !call.request.body.isEmpty else { return }
        guard let body = try call.request.takeJSON(call.limits).object else {
            throw Problem(.invalidBody, "the body has to be an object")
        }
        for member in body.members {
            switch member.name {
            case "wait": wait = try TransactionWishes.seconds(member, limits.maximumWaitSeconds)
            case "idle": idle = try TransactionWishes.seconds(member, limits.idleSeconds)
            case "lifetime": lifetime = try TransactionWishes.seconds(member, limits.lifetimeSeconds)
            default:
                throw Problem(.invalidBody, "a transaction has no '\(member.name)'").with("pointer", "/" + member.name)
            }
        }
    }

    private static func seconds(_ member: (name: String, value: JSONValue), _ maximum: Double) throws(Problem) -> Double {
        guard let seconds = member.value.string.flatMap(Duration.seconds), seconds <= maximum else {
            throw Problem.invalidParameter(
                member.name, "'\(member.name)' has to be a duration of at most \(Duration.text(maximum)), such as \"2s\""
            )
            .with("pointer", "/" + member.name).with("limit", .integer(Int64(maximum)))
        }
        return seconds
    }
}
