// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// What has to be done before subscriptions can be followed from the newest version.
struct CatchUp: Sendable {
    /// Sets from here on are told.
    var position: UInt64
    /// Subscriptions whose whole state is told, by index.
    var snapshots: [Int] = []
    /// Why those that had a position are told anew; nil where nobody had one.
    var reset: ResetNotice.Reason?

    /// `wantsSnapshots` counts where there is no position. `newest` is the version that all of `reader` is at.
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
