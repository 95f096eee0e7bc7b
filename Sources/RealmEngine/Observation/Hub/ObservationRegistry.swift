// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The observations of a hub: by target, by attachment, and by the changes that concern them.
///
/// A round does not touch observations that it does not concern. So an observation is at the position of the hub unless it is
/// among those that lag behind: passive ones that a change may concern. It is used on the thread of the hub only.
struct ObservationRegistry {
    /// The observations by the identity of their target.
    private var byIdentity: [ByteText: Observation] = [:]
    /// The observations by the numbers of their attachments.
    private var byAttachment: [Int: Observation] = [:]
    /// The observations that are at earlier versions than the hub, by their numbers.
    private(set) var lagging: [Int: Observation] = [:]
    /// The newest version that an observation lags behind at; nil when none lags behind.
    private var lastLeft: Version?
    /// The observations by what concerns them.
    let index = TargetIndex()
    /// The number of observations with a listener that waits for events.
    private(set) var activeCount = 0
    /// The number of the last observation or attachment.
    private var lastNumber = 0

    var count: Int { byIdentity.count }
    var isEmpty: Bool { byIdentity.isEmpty }
    /// All observations in the order in which they began, which is the order of events.
    var inOrder: [Observation] { byIdentity.values.sorted { $0.number < $1.number } }
    /// The observations that lag behind, in the order in which they began.
    var laggingInOrder: [Observation] { lagging.values.sorted { $0.number < $1.number } }
    /// The earliest version that an observation is at; nil when none lags behind.
    var oldestVersion: UInt64? { lagging.values.compactMap { $0.behind?.token.version }.min() }
    /// The versions that observations are at which lag behind.
    var versionsBehind: Set<UInt64> { lagging.isEmpty ? [] : Set(lagging.values.compactMap { $0.behind?.token.version }) }

    /// The observation of a target; nil for none.
    subscript(identity: String) -> Observation? { byIdentity[identity] }
    /// The observation of an attachment; nil when it has ended.
    subscript(attachment: Attachment) -> Observation? { byAttachment[attachment.number] }

    /// The observations of some listeners.
    func observations(of listeners: Set<ObjectIdentifier>) -> [Observation] {
        guard !listeners.isEmpty else { return [] }
        return inOrder.filter { $0.listeners.values.contains { listeners.contains(ObjectIdentifier($0.listener)) } }
    }

    /// Whether an observation has not ended.
    func contains(_ observation: Observation) -> Bool { byIdentity[observation.target.identity] === observation }

    /// Adds an observation of a target that is at the position of the hub, which is `version`.
    mutating func add(
        _ target: ObservedTarget, _ observer: any TargetObserver, _ clock: EvaluationClock, time: Duration, at version: Version
    ) -> Observation {
        lastNumber += 1
        let observation = Observation(
            target, observer, clock, time: time, number: lastNumber, since: version.token.version)
        observation.count()
        byIdentity[target.identity] = observation
        index.add(observation)
        return observation
    }

    /// Removes an observation with all its attachments.
    mutating func remove(_ observation: Observation) {
        for number in observation.listeners.keys { byAttachment[number] = nil }
        guard contains(observation) else { return }
        byIdentity[observation.target.identity] = nil
        if observation.isActive { activeCount -= 1 }
        stopLagging(observation)
        index.remove(observation)
    }

    /// Files an observation again, after what concerns it has changed. One whose object is gone is not concerned by anything.
    func file(_ observation: Observation) {
        index.remove(observation)
        if !observation.observer.isGone { index.add(observation) }
    }

    // MARK: - Listeners

    /// Adds a listener to an observation.
    mutating func attach(
        _ listener: any ObservationListener, to observation: Observation, isActive: Bool
    ) -> Attachment {
        lastNumber += 1
        let attachment = Attachment(observation.target.identity, lastNumber)
        change(observation) { $0[attachment.number] = Observation.Listener(listener: listener, isActive: isActive) }
        byAttachment[attachment.number] = observation
        return attachment
    }

    /// Removes a listener, and its observation if it was the last one; false when there was none.
    mutating func detach(_ attachment: Attachment) -> Bool {
        guard let observation = byAttachment.removeValue(forKey: attachment.number) else { return false }
        change(observation) { $0[attachment.number] = nil }
        if observation.listeners.isEmpty { remove(observation) }
        return true
    }

    /// Sets whether a listener waits for events.
    mutating func setActive(_ attachment: Attachment, _ isActive: Bool) {
        guard let observation = byAttachment[attachment.number] else { return }
        change(observation) { $0[attachment.number]?.isActive = isActive }
    }

    /// Changes the listeners of an observation, and counts those that are active.
    private mutating func change(_ observation: Observation, _ body: (inout [Int: Observation.Listener]) -> Void) {
        let wasActive = observation.isActive
        body(&observation.listeners)
        activeCount += (observation.isActive ? 1 : 0) - (wasActive ? 1 : 0)
    }

    // MARK: - Positions

    /// Records that an observation remains at a version when the hub advances.
    ///
    /// If others lag behind already, it remains at their version where that is possible: no commit since then has concerned it, so
    /// its state is that of the earlier version as well. Otherwise each commit could keep a version of its own in the file.
    mutating func leave(_ observation: Observation, at version: Version) {
        guard observation.behind == nil else { return }
        let shared = lastLeft.flatMap { $0.token.version >= observation.since ? $0 : nil } ?? version
        observation.behind = shared
        lastLeft = shared
        lagging[observation.number] = observation
    }

    /// Notes that an observation has reached the position of the hub, which is `version`.
    mutating func advanced(_ observation: Observation, to version: Version) {
        observation.since = version.token.version
        guard observation.behind != nil else { return }
        observation.behind = nil
        stopLagging(observation)
    }

    /// Notes that other threads advance an observation, so that it does not count among those that lag behind.
    mutating func delay(_ observation: Observation) {
        observation.behind = nil
        stopLagging(observation)
    }

    /// Removes an observation from those that lag behind.
    private mutating func stopLagging(_ observation: Observation) {
        lagging[observation.number] = nil
        if lagging.isEmpty { lastLeft = nil }
    }
}
