// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The beginning of a stream or a poll: with the change sets after the client's position, or with snapshots of the newest
/// version.
///
/// It is made when all subscriptions have reached one version.
struct StartPlan: Sendable {
    /// The position after which a stream or poll delivers change sets.
    var position: UInt64
    /// The subscriptions that begin with a snapshot, as indexes of the reader.
    var snapshots: [Int] = []
    /// The reason why subscriptions lose the client's position; nil when none does.
    var reset: ResetNotice.Reason?

    /// Decides how a client begins.
    ///
    /// - Parameters:
    ///   - start: The position that the client brought.
    ///   - reader: The subscriptions.
    ///   - newest: The version that all subscriptions have reached.
    ///   - lastBreak: The version of the last change of the schema that was more than additions.
    ///   - epochStart: The version with which the present epoch began; 0 when the realm was opened with it.
    ///   - wantsSnapshots: Whether a client without a position gets snapshots. It makes no
    ///     difference to other clients.
    init(
        _ start: StartPosition, _ reader: ChangeReader, newest: UInt64, lastBreak: UInt64, epochStart: UInt64,
        wantsSnapshots: Bool
    ) {
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
        case .version(let version) where version > newest || version < epochStart:
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
