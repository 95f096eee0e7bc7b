// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// The first evaluation of a target on another thread than that of the hub, which advances all other targets meanwhile.
///
/// `ObservationCore` makes one at its position and keeps the changes since then. When the evaluation is there, it advances the new
/// observer over them.
///
/// `@unchecked Sendable`: `isOutdated` and `waiting` are used on the thread of the hub only. `result` is set by the thread that
/// evaluates, which passes a call to the hub afterwards, and read by that call; the monitor of the inbox guards it.
final class PendingEvaluation: @unchecked Sendable {
    /// The target.
    let target: ObservedTarget
    /// The version at which it is evaluated.
    let version: Version
    /// The observer, or why there is none.
    private(set) var result: Result<any TargetObserver, ObservationError> = .failure(.query(.cancelled))
    /// Whether the changes since the version are not known, or include one of the schema, so that the target has to be evaluated again.
    var isOutdated = false
    /// What to call afterwards, for others who want to attach to the same target.
    var waiting: [@Sendable () -> Void] = []
    /// The configured names of linking objects.
    private let names: BacklinkNames
    /// Limits the time of the evaluation, and of later ones by the clock of the hub.
    private let clock: EvaluationClock
    /// What limits the beginning of the observation.
    private let admission: ObservedMemory.Admission

    /// Prepares an evaluation.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - version: The version at which it is evaluated.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits its time; not that of the hub, which is in use meanwhile.
    ///   - admission: What limits the beginning of the observation.
    init(
        _ target: ObservedTarget, at version: Version, names: BacklinkNames, clock: EvaluationClock,
        admission: ObservedMemory.Admission
    ) {
        self.target = target
        self.version = version
        self.names = names
        self.clock = clock
        self.admission = admission
    }

    /// Evaluates the target. It is called once, on any thread.
    func run() {
        clock.start(until: admission.deadline, isWanted: admission.isWanted)
        defer { clock.handOver() }
        guard clock.mayGoOn else { return }
        result = Result { () throws(ObservationError) in try target.observer(at: version.snapshot, names: names, clock) }
    }
}
