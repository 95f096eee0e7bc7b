// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Carries out what an `OwnerMachine` says, by a log and a clock.
///
/// One thread at a time uses it.
package struct OwnerDriver {
    package let realm: String
    private let log: any RealmLog
    /// The machine that decides.
    package private(set) var machine: OwnerMachine
    /// Why the log could not be reached last.
    package private(set) var reason = "there was no time"

    /// The pauses between two attempts, in seconds: the first one, and the longest one.
    private static let pauses = (first: 0.005, longest: 0.2)

    /// Makes a driver of a machine that owns nothing.
    package init(_ realm: String, _ owner: LogOwner, _ log: any RealmLog) {
        self.realm = realm
        self.log = log
        machine = OwnerMachine(owner)
    }

    /// Passes an event to the machine, and does what it says until it reports an outcome.
    ///
    /// - Parameters:
    ///   - bytes: The sealed record of an append.
    ///   - requests: The requests that it carries out.
    ///   - deadline: The time after which nothing more is sent.
    ///   - work: Called while the log carries out the first request; never if there is none.
    /// - Returns: The outcome, soon after the deadline at the latest.
    package mutating func run(
        _ event: OwnerMachine.Event, _ bytes: [UInt8] = [], _ requests: [CommittedRequest] = [], until deadline: Instant,
        meanwhile work: () -> Void = {}
    ) -> OwnerMachine.Outcome {
        var action = machine.handle(event)
        var isFirst = true
        var pause = OwnerDriver.pauses.first
        while true {
            switch action {
            case .finish(let outcome): return outcome
            case .send(let request):
                guard Instant.now() < deadline else {
                    action = machine.handle(.deadline)
                    continue
                }
                var call = LogCall(
                    realm: realm, owner: machine.owner, request: request, bytes: request.isAppend ? bytes : [])
                if request.isAppend { call.requests = requests }
                let reply = log.perform(call, until: deadline) { if isFirst { work() } }
                isFirst = false
                if let text = OwnerDriver.failure(reply) {
                    reason = text
                    let rest = deadline.seconds(since: .now())
                    if rest > 0 { Threads.sleep(seconds: min(pause, rest)) }
                    pause = min(2 * pause, OwnerDriver.pauses.longest)
                }
                action = machine.handle(.reply(reply))
            }
        }
    }

    /// Returns why a request has no reply; nil when it has one.
    private static func failure(_ reply: LogReply) -> String? {
        switch reply {
        case .unsent(let reason): return reason
        case .lost: return "the connection was lost, or there was no answer in time"
        default: return nil
        }
    }
}
