// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Decides what the owner of a realm does: a value without clocks, threads and files. It gets events, and says what to do next.
///
/// 1. A claim reads the head and moves its epoch. The answer is durable, so every record up to it is.
/// 2. An append is stored, or its outcome is not known: the answer was lost, or the head is not the expected one, which may be so
///    because an earlier attempt succeeded.
/// 3. Then a barrier settles it. It moves the epoch on, so what was sent before can never be stored later, and what its answer
///    shows is durable. Either the record is there, or it never will be and may be appended again.
/// 4. If another node has become the owner in the meantime, its records come after ours or replace it; the record with our number
///    shows which.
///
/// `stored`, `fenced` and `unavailable` are certain for ever. Only `unknown` is not: then the machine has ended, and a new opening
/// with a new token finds out by its claim.
///
/// Deadlines are events that take the place of a request which was to be sent; they follow the clock of the owner, which is never
/// compared with another clock.
package struct OwnerMachine: Sendable, Hashable {
    /// The event that the machine waits for.
    package enum State: Sendable, Hashable {
        /// Nothing; there is no owner here.
        case idle
        /// The head, over which a claim will be made.
        case looking
        /// The outcome of a claim.
        case claiming(over: UInt64)
        /// The outcome of a claim; whether one was refused.
        case confirming(isRefused: Bool)
        /// The next write. The head is the one that this owner has left.
        case current(LogHead)
        /// The outcome of an append after a head.
        case appending(LogHead, LogRequest.Entry)
        /// The barrier that settles an append.
        case settling(LogHead, LogRequest.Entry)
        /// The checksum of the record that has the number of ours, behind the present head.
        case searching(LogRequest.Entry, LogHead)
        /// The outcome of a release.
        case releasing
        /// Nothing any more: another one is the owner, or the log is not the one that it was.
        case fenced(LogHead)
        /// Nothing any more: the outcome of an append was not known in time.
        case unknown
    }

    /// An event that the machine takes.
    package enum Event: Sendable, Hashable {
        /// The realm is to be owned.
        case claim
        /// The log of the realm was begun with this owner, or begun anew by it.
        case created(LogHead)
        /// A record is to be stored.
        case append(LogRequest.Entry)
        /// The realm is not to be owned any more.
        case release
        /// The log has replied to what was sent last.
        case reply(LogReply)
        /// There is no time for what was to be sent; it was not.
        case deadline
    }

    package enum Action: Sendable, Hashable {
        /// Send a request, and report its reply.
        case send(LogRequest)
        /// Report an outcome to the caller.
        case finish(Outcome)
    }

    /// The outcome of a claim, an append or a release.
    package enum Outcome: Sendable, Hashable {
        case claimed(LogHead)
        /// The log does not know the realm.
        case missing
        /// The record is stored for ever.
        case stored
        /// The record is not stored and never will be, because another one is the owner.
        case fenced(LogHead)
        /// The record may have been stored, or may be later.
        case unknown
        /// There was no time. A record is not stored and never will be.
        case unavailable
        /// The realm is not owned any more, as far as this side is concerned.
        case released
    }

    package let owner: LogOwner
    /// The event that the machine waits for.
    package var state = State.idle

    /// Makes a machine that owns nothing.
    package init(_ owner: LogOwner) { self.owner = owner }

    /// Takes an event, and says what to do next.
    package mutating func handle(_ event: Event) -> Action {
        switch event {
        case .claim:
            guard case .idle = state else { return refuse() }
            return go(to: .looking, .send(.head))
        case .created(let head):
            switch state {
            case .idle, .current: return go(to: .current(head), .finish(.claimed(head)))
            default: return refuse()
            }
        case .append(let entry):
            guard case .current(let head) = state else { return refuse() }
            return go(to: .appending(head, entry), .send(.append(after: head, entry)))
        case .release:
            guard case .current = state else { return .finish(.released) }
            return go(to: .releasing, .send(.release))
        case .deadline: return expire()
        case .reply(let reply): return take(reply)
        }
    }

    /// Enters a state.
    private mutating func go(to next: State, _ action: Action) -> Action {
        state = next
        return action
    }

    /// Refuses an event that the state has no room for.
    private func refuse() -> Action {
        switch state {
        case .fenced(let head): return .finish(.fenced(head))
        case .unknown: return .finish(.unknown)
        default: return .finish(.unavailable)
        }
    }

    /// Takes that there is no time for what was to be sent.
    private mutating func expire() -> Action {
        switch state {
        case .looking, .claiming, .confirming: return go(to: .idle, .finish(.unavailable))
        // This attempt was not sent, and what became of all earlier ones is known.
        case .appending(let head, _): return go(to: .current(head), .finish(.unavailable))
        case .settling, .searching: return go(to: .unknown, .finish(.unknown))
        case .releasing: return go(to: .idle, .finish(.released))
        case .idle, .current, .fenced, .unknown: return refuse()
        }
    }
}
