// SPDX-License-Identifier: Apache-2.0

/// How the answer to a client begins: from its position, or from snapshots of the newest version.
struct StartPlan: Sendable {
    /// The sets after this position are delivered.
    var position: UInt64
    /// The subscriptions that begin with a snapshot, by index.
    var snapshots: [Int] = []
    /// Why subscriptions lose the position that the client brought; nil when none does.
    var reset: ResetNotice.Reason?

    /// `newest` is the version of all subscriptions of `reader`. `lastBreak` is the last version that changed the schema other than by
    /// additions. `wantsSnapshots` matters only to a client without a position.
    init(_ start: StartPosition, _ reader: ChangeReader, newest: UInt64, lastBreak: UInt64, wantsSnapshots: Bool) {
        position = newest
        let all = Array(reader.subs.indices)
        switch start {
        case .beginning: snapshots = wantsSnapshots ? all : []
        case .now: break
        case .elsewhere:
            snapshots = all
            reset = .epoch
        case .unclear:
            snapshots = all
            reset = .retention
        case .version(let version) where version > newest:
            snapshots = all
            reset = .epoch
        case .version(let version):
            position = version
            guard version >= lastBreak else {
                snapshots = all
                reset = .schema
                return
            }
            snapshots = reader.lost(at: version)
            if !snapshots.isEmpty { reset = .retention }
        }
    }
}
