// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The transitions on replies of the log.
extension OwnerMachine {
    /// Takes a reply. One that does not fit what was asked is treated as lost.
    mutating func take(_ reply: LogReply) -> Action {
        switch (state, reply) {
        case (.looking, .head(nil)), (.confirming, .head(nil)): return enter(.idle, .finish(.missing))
        case (.looking, .head(let head?)): return claim(over: head)
        case (.claiming(let epoch), .unsent): return .send(.claim(over: epoch))
        case (.claiming, .claimed(let head)): return enter(.current(head), .finish(.claimed(head)))
        case (.claiming, .conflict): return enter(.confirming(isRefused: true), .send(.barrier))
        case (.claiming, _): return enter(.confirming(isRefused: false), .send(.barrier))
        case (.confirming(let isRefused), .head(let head?)): return confirm(head, isRefused)
        case (.appending(let head, let entry), .unsent): return .send(.append(after: head, entry))
        case (.appending(let head, let entry), .stored):
            return enter(.current(OwnerMachine.advanced(head, by: entry)), .finish(.stored))
        case (.appending(let head, let entry), _): return enter(.settling(head, entry), .send(.barrier))
        case (.settling, .head(nil)): return enter(.unknown, .finish(.unknown))
        case (.settling(let head, let entry), .head(let present?)): return settle(entry, after: head, present)
        case (.searching(let entry, let head), .checksum(let checksum)): return find(entry, head, checksum)
        case (.releasing, _): return enter(.idle, .finish(.released))
        default: return repeatRequest()
        }
    }

    private mutating func enter(_ next: State, _ action: Action) -> Action {
        state = next
        return action
    }

    /// Repeats a request that has no effect of its own or is idempotent.
    private func repeatRequest() -> Action {
        switch state {
        case .looking: return .send(.head)
        case .confirming, .settling: return .send(.barrier)
        case .searching(let entry, let head): return .send(.checksum(lineage: head.lineage, version: entry.version))
        case .claiming(let epoch): return .send(.claim(over: epoch))
        case .appending(let head, let entry): return .send(.append(after: head, entry))
        case .releasing: return .send(.release)
        case .idle, .current, .fenced, .unknown: return .finish(.unavailable)
        }
    }

    private mutating func claim(over head: LogHead) -> Action {
        enter(.claiming(over: head.epoch), .send(.claim(over: head.epoch)))
    }

    /// Takes the reply of a barrier after a claim. A claim that was refused may be one that succeeded at an earlier attempt.
    private mutating func confirm(_ head: LogHead, _ isRefused: Bool) -> Action {
        if head.owner == owner { return enter(.current(head), .finish(.claimed(head))) }
        return isRefused ? enter(.idle, .finish(.fenced(head))) : claim(over: head)
    }

    /// Takes the reply of a barrier after an append to a head.
    private mutating func settle(_ entry: LogRequest.Entry, after head: LogHead, _ present: LogHead) -> Action {
        // In another lineage the numbers of versions mean something else.
        guard present.lineage == head.lineage else { return enter(.unknown, .finish(.unknown)) }
        let isOwner = present.owner == owner
        if present.version == entry.version, present.checksum == entry.checksum {
            return enter(isOwner ? .current(present) : .fenced(present), .finish(.stored))
        }
        if present.version > entry.version {
            return enter(
                .searching(entry, present), .send(.checksum(lineage: present.lineage, version: entry.version)))
        }
        guard isOwner, present.version == head.version, present.checksum == head.checksum else {
            return enter(.fenced(present), .finish(.fenced(present)))
        }
        return enter(.appending(present, entry), .send(.append(after: present, entry)))
    }

    /// Takes the checksum of the record that has the number of ours, behind the present head.
    private mutating func find(_ entry: LogRequest.Entry, _ head: LogHead, _ checksum: LogChecksum?) -> Action {
        guard let checksum else { return enter(.unknown, .finish(.unknown)) }
        return enter(.fenced(head), .finish(checksum == entry.checksum ? .stored : .fenced(head)))
    }

    /// Returns the head after an append.
    private static func advanced(_ head: LogHead, by entry: LogRequest.Entry) -> LogHead {
        var next = head
        next.version = entry.version
        next.checksum = entry.checksum
        return next
    }
}
