// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// The notifications of one realm: its channels, and all who read them.
final class ChangeCenter: Sendable {
    private struct State {
        var channels: [String: Channel] = [:]
        /// The channels of a definition: one for each object that its names have stood for.
        var byNames: [String: [Channel]] = [:]
        var streams: [ObjectIdentifier: EventStream] = [:]
        var polls: [ObjectIdentifier: LongPoll] = [:]
        /// Channels with something new since the last round.
        var changed: [Channel] = []
        var schemaChanges: [SchemaNotice] = []
        var lastBreak: UInt64 = 0
        var hasNewSchema = false
        var roundToken: Int?
        var isClosed = false
        /// Whether somebody comes by to drop what nobody uses.
        var willDrop = false

        mutating func remove(_ channel: Channel) {
            if channels[channel.identity] === channel { channels[channel.identity] = nil }
            byNames[channel.nameIdentity]?.removeAll { $0 === channel }
            if byNames[channel.nameIdentity]?.isEmpty == true { byNames[channel.nameIdentity] = nil }
        }

        /// Takes out those that were let go of first when too many are kept for nobody; a few more, so that it is not
        /// done each time.
        mutating func takeExcess(_ limit: Int) -> [Channel] {
            guard channels.count > limit else { return [] }
            let unused = channels.values.compactMap { channel in channel.unusedSince.map { (channel, $0) } }
            guard unused.count > limit else { return [] }
            let excess = unused.sorted { $0.1 < $1.1 }.prefix(unused.count - limit + limit / 8).map(\.0)
            for channel in excess { remove(channel) }
            return excess
        }
    }

    /// Changes of the schema that are remembered.
    private static let schemaChangeLimit = 100

    let database: Database
    let limits: Limits
    private let figures: ChangeFigures
    private let alarm: Alarm
    private let submit: @Sendable (@escaping WorkerPool.Job) -> Bool
    private let state = RankedMutex(.changeCenter, State())
    /// Everything up to this version was told to the channels.
    private let publishedVersion: Atomic<UInt64>

    init(
        _ database: Database, _ limits: Limits, _ figures: ChangeFigures, _ alarm: Alarm,
        submit: @escaping @Sendable (@escaping WorkerPool.Job) -> Bool
    ) {
        self.database = database
        self.limits = limits
        self.figures = figures
        self.alarm = alarm
        self.submit = submit
        publishedVersion = Atomic(database.current.token.version)
        let token = database.observations.onRound { [weak self] round in self?.endRound(round) }
        state.withLock { $0.roundToken = token }
    }

    /// A problem when the file was not what it was by the time something was read, so that it cannot be told.
    var soundness: Result<Void, Problem> {
        database.health.failure.map { .failure(Problem(unavailable: $0)) } ?? .success(())
    }

    var published: UInt64 { publishedVersion.load(ordering: .acquiring) }
    var lastBreak: UInt64 { state.withLock { $0.lastBreak } }
    func token(_ version: UInt64) -> String { VersionToken(epoch: database.epoch, version: version).text }

    /// Has a worker do something; false when the server ends.
    func work(_ job: @escaping @Sendable () -> Void) -> Bool { submit(job) }

    func noteReset(_ reason: ResetNotice.Reason) { figures.noteReset(reason) }
    func noteOverflow() { figures.overflows.add(1, ordering: .relaxed) }
    func noteEncoding() { figures.encodings.add(1, ordering: .relaxed) }
    func noteReplayed(_ count: Int) { figures.replayed.add(count, ordering: .relaxed) }

    var channelCount: Int { state.withLock { $0.channels.count } }
    var streamCount: Int { state.withLock { $0.streams.count } }
    var pollCount: Int { state.withLock { $0.polls.count } }

    // MARK: - Channels

    /// The channel of a definition in the newest version, held for the caller.
    func channel(_ definition: SubscriptionDefinition) throws(Problem) -> Channel {
        let resolved = try DefinitionResolver(definition: definition, version: database.current, database: database).resolve()
        let identity = Channel.identity(resolved, definition)
        let channel = state.withLock { state -> Channel? in
            guard !state.isClosed else { return nil }
            if let known = state.channels[identity], known.failure == nil {
                known.retain()
                return known
            }
            let channel = Channel(resolved, definition, identity: identity, self)
            channel.retain()
            state.channels[identity] = channel
            state.byNames[channel.nameIdentity, default: []].append(channel)
            return channel
        }
        guard let channel else { throw Channel.problem(.closed) }
        return channel
    }

    /// The same for a reader that stands at a version: what it reads may be gone by now, or stand elsewhere.
    func channel(
        _ definition: SubscriptionDefinition, from start: StartPosition
    ) throws(Problem) -> (channel: Channel, start: StartPosition) {
        guard case .version(let version) = start else { return (try channel(definition), start) }
        let known = state.withLock { state -> [Channel]? in
            let all = state.byNames[Channel.nameIdentity(definition)] ?? []
            // Whoever stands where something ended knows that end, and nothing of what is there now.
            guard !all.contains(where: { $0.end == version }) else { return nil }
            let known = all.filter { $0.failure == nil && !$0.isOver(at: version) && $0.next(after: version).0 != .lost }
            if known.count == 1 { known[0].retain() }
            return known
        }
        if let known, known.count == 1 { return (known[0], start) }
        return (try channel(definition), known?.isEmpty == true ? start : .unclear)
    }

    func release(_ channel: Channel) {
        guard channel.release() else { return }
        let (excess, sets) = state.withLock { state -> ([Channel], Bool) in
            defer { state.willDrop = true }
            return (state.takeExcess(limits.idleDefinitions), !state.willDrop)
        }
        for channel in excess { channel.close() }
        // One alarm at a time: clients may come and go by the hundred.
        if sets { setDropAlarm(at: Instant.now()) }
    }

    private func setDropAlarm(at time: Instant) {
        alarm.set(at: time.adding(seconds: Double(limits.retentionSeconds) + 0.01)) { [weak self] in self?.dropUnused() }
    }

    /// Forgets channels that nobody has held for as long as they are kept.
    private func dropUnused() {
        let limit = Instant.now().adding(seconds: -Double(limits.retentionSeconds))
        let (unused, next) = state.withLock { state -> ([Channel], Instant?) in
            let unused = state.channels.values.filter { $0.isUnused(since: limit) }
            for channel in unused { state.remove(channel) }
            let next = state.channels.values.compactMap(\.unusedSince).min()
            state.willDrop = next != nil
            return (unused, next)
        }
        for channel in unused { channel.close() }
        if let next { setDropAlarm(at: next) }
    }

    /// A channel that cannot go on. Those who hold it find out.
    func forget(_ channel: Channel) { state.withLock { $0.remove(channel) } }

    // MARK: - Readers

    func add(_ stream: EventStream) {
        let isClosed = state.withLock { state -> Bool in
            guard !state.isClosed else { return true }
            state.streams[ObjectIdentifier(stream)] = stream
            return false
        }
        for sub in stream.reader.subs {
            sub.channel.activate()
            if let line = stream.line { sub.channel.add(line, of: stream) }
        }
        if isClosed { stream.end("deleted") }
    }

    func remove(_ stream: EventStream) {
        state.withLock { $0.streams[ObjectIdentifier(stream)] = nil }
        for sub in stream.reader.subs {
            sub.channel.remove(stream)
            sub.channel.deactivate()
            release(sub.channel)
        }
    }

    /// False when the realm is closed.
    func add(_ poll: LongPoll) -> Bool {
        let isOpen = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            state.polls[ObjectIdentifier(poll)] = poll
            return true
        }
        for sub in poll.reader.subs { sub.channel.activate() }
        return isOpen
    }

    func remove(_ poll: LongPoll) {
        state.withLock { $0.polls[ObjectIdentifier(poll)] = nil }
        for sub in poll.reader.subs {
            sub.channel.remove(poll)
            sub.channel.deactivate()
            release(sub.channel)
        }
    }

    /// Brings subscriptions to one version, that of the newest commit at least. Their channels have to be active.
    func attach(
        _ subs: [ReadSubscription], wantsContents: Bool,
        _ completion: @escaping @Sendable (Result<AttachedSubscriptions, Problem>) -> Void
    ) {
        let attaching = SubscriptionAttaching(subs, wantsContents: wantsContents) { [self] result in
            if case .success(let attached) = result { publish(attached.version.token.version) }
            completion(result)
        }
        attaching.begin()
    }

    // MARK: - Rounds

    func noteChange(_ channel: Channel) { state.withLock { $0.changed.append(channel) } }

    func noteSchema(_ change: SchemaChange, _ version: Database.Version) {
        let notice = SchemaNotice(
            commit: version.token.version, oldVersion: change.oldVersion, newVersion: change.newVersion,
            version: version.tokenText, isAdditive: change.isAdditive)
        state.withLock { state in
            // Every channel tells of it.
            guard state.schemaChanges.last.map({ $0.commit < notice.commit }) ?? true else { return }
            state.schemaChanges.append(notice)
            if state.schemaChanges.count > ChangeCenter.schemaChangeLimit { state.schemaChanges.removeFirst() }
            if !notice.isAdditive { state.lastBreak = notice.commit }
            state.hasNewSchema = true
        }
    }

    /// The first change of the schema after a version.
    func schemaChange(after version: UInt64) -> SchemaNotice? {
        state.withLock { state in
            guard let last = state.schemaChanges.last, last.commit > version else { return nil }
            return state.schemaChanges.first { $0.commit > version }
        }
    }

    private func publish(_ version: UInt64) { publishedVersion.max(version, ordering: .acquiringAndReleasing) }

    /// All channels were told of everything up to a version: now readers may know.
    private func endRound(_ round: ObservationRound) {
        let version = round.version.token.version
        if let mark = round.mark as? SkipMark { mark.note(version) { noteChange($0) } }
        publish(version)
        let (changed, streams, allPolls) = state.withLock { state in
            defer {
                state.changed.removeAll(keepingCapacity: true)
                state.hasNewSchema = false
            }
            return (
                state.changed, state.hasNewSchema ? Array(state.streams.values) : [],
                state.hasNewSchema ? Array(state.polls.values) : []
            )
        }
        var lines: [any EventLine] = streams.compactMap(\.line)
        var polls = allPolls
        for channel in changed { channel.collectReaders(&lines, &polls) }
        if let first = lines.first { type(of: first).wake(lines) }
        for poll in polls { poll.look() }
    }

    // MARK: - The end

    /// Ends all streams, and answers all polls.
    func endReaders(_ reason: StaticString, failing problem: Problem? = nil) {
        let (streams, polls) = state.withLock { (Array($0.streams.values), Array($0.polls.values)) }
        for stream in streams {
            if let problem { stream.end(failing: problem) } else { stream.end(reason) }
        }
        let lines = streams.compactMap(\.line)
        if let first = lines.first { type(of: first).wake(lines) }
        for poll in polls { poll.finish() }
    }

    /// The realm is closed: nothing is observed any more. Clients need not come back to what is not served, unless a problem
    /// ends it that may pass.
    func close(failing problem: Problem? = nil) {
        let (channels, token) = state.withLock { state in
            state.isClosed = true
            defer {
                state.channels = [:]
                state.byNames = [:]
                state.roundToken = nil
            }
            return (Array(state.channels.values), state.roundToken)
        }
        endReaders("deleted", failing: problem)
        for channel in channels { channel.close() }
        if let token { database.observations.removeRoundObserver(token) }
    }
}
