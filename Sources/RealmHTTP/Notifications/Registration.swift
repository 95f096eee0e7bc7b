// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Subscriptions under names that a client registered, to be read by several requests.
final class Registration: Sendable {
    private struct State {
        var expires: Instant
        var isOver = false
        var streams: [ObjectIdentifier: EventStream] = [:]
        var polls: [ObjectIdentifier: LongPoll] = [:]
    }

    let id = "s_" + RandomName.make()
    /// What lets somebody without credentials read it, and nothing else.
    let ticket = RandomName.make()
    let client: String
    let center: ChangeCenter
    let subs: [ReadSubscription]
    /// Everything is observed from here on.
    let version: String
    private let seconds: Double
    private let becameIdle: @Sendable () -> Void
    private let state: RankedMutex<State>

    /// Takes over the hold on the channels. `becameIdle` is called when its last reader has left.
    init(
        _ subs: [ReadSubscription], _ center: ChangeCenter, client: String, version: String, seconds: Int,
        becameIdle: @escaping @Sendable () -> Void
    ) {
        self.becameIdle = becameIdle
        self.subs = subs
        self.center = center
        self.client = client
        self.version = version
        self.seconds = Double(seconds)
        state = RankedMutex(.registration, State(expires: Instant.now().adding(seconds: Double(seconds))))
    }

    deinit {
        for sub in subs { center.release(sub.channel) }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Seconds that are left; nil while somebody reads.
    var secondsLeft: Double? {
        state.withLock { state in
            guard state.streams.isEmpty, state.polls.isEmpty else { return nil }
            return max(0, state.expires.seconds(since: .now()))
        }
    }

    var streamCount: Int { state.withLock { $0.streams.count } }

    // MARK: - Readers

    /// Subscriptions for one reader, who holds their channels too.
    func hold() -> [ReadSubscription] {
        for sub in subs { sub.channel.retain() }
        return subs
    }

    func open(_ stream: EventStream) { state.withLock { $0.streams[ObjectIdentifier(stream)] = stream } }
    func open(_ poll: LongPoll) { state.withLock { $0.polls[ObjectIdentifier(poll)] = poll } }

    func close(_ stream: EventStream) { close { $0.streams[ObjectIdentifier(stream)] = nil } }
    func close(_ poll: LongPoll) { close { $0.polls[ObjectIdentifier(poll)] = nil } }

    private func close(_ remove: (inout State) -> Void) {
        let isIdle = state.withLock { state -> Bool in
            remove(&state)
            state.expires = Instant.now().adding(seconds: seconds)
            return state.streams.isEmpty && state.polls.isEmpty && !state.isOver
        }
        HeldLocks.assertNone()
        if isIdle { becameIdle() }
    }

    /// Ends it if nobody has read it for its time.
    func expire(_ now: Instant) -> Bool {
        state.withLock { state in
            guard !state.isOver, state.streams.isEmpty, state.polls.isEmpty, state.expires <= now else { return state.isOver }
            state.isOver = true
            return true
        }
    }

    /// Ends it with all who read it; false when it was over.
    func delete() -> Bool {
        let readers = state.withLock { state -> ([EventStream], [LongPoll])? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return (Array(state.streams.values), Array(state.polls.values))
        }
        guard let (streams, polls) = readers else { return false }
        for stream in streams {
            stream.end("deleted")
            stream.line?.wake()
        }
        for poll in polls { poll.fail(Registration.expired) }
        return true
    }

    static let expired = Problem(.subscriptionExpired, "this registration is over; register again")

    // MARK: - Skips

    /// The subscription of a name, or all of them; nil when there is none of the name.
    func skipped(_ name: String?) -> [ReadSubscription]? {
        guard let name else { return subs }
        return subs.first { $0.name == name }.map { [$0] }
    }

    // MARK: - Documents

    /// What making it answers.
    var created: OutputBuffer {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("id", text: id)
        writer.member("url", text: "/v1/realms/\(PercentDecoding.encode(center.database.name.text))/changes?ticket=\(ticket)")
        writer.member("version", text: version)
        writeExpiry(&writer)
        writer.endObject()
        return writer.buffer
    }

    var document: OutputBuffer {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.member("id", text: id)
        writer.key("subscriptions")
        writer.beginObject()
        for sub in subs {
            writer.key(sub.name)
            sub.channel.definition.write(to: &writer)
        }
        writer.endObject()
        writer.member("version", text: version)
        writeExpiry(&writer)
        writer.member("streams", int: streamCount)
        writer.endObject()
        return writer.buffer
    }

    private func writeExpiry(_ writer: inout JSONWriter) {
        writer.key("expiresAt")
        guard let left = secondsLeft else { return writer.null() }
        let time = WallClock(nanoseconds: WallClock.now().nanoseconds + Int64(left * 1e9))
        writer.value { buffer in
            buffer.append(UInt8(ascii: "\""))
            buffer.append(logTime: time)
            buffer.append(UInt8(ascii: "\""))
        }
    }
}

/// All registrations, by id and by ticket, with those that ended a while ago.
final class RegistrationTable: Sendable {
    private struct State {
        var byID: [String: Registration] = [:]
        var byTicket: [String: Registration] = [:]
        var perClient: [String: Int] = [:]
        /// Ids and tickets that were, with the realm they were of.
        var ended: [String: String] = [:]
        /// The same in the order in which they ended, with the time at which that is forgotten.
        var endedInOrder: [(id: String, ticket: String, until: Instant)] = []
        /// The first of them that is not forgotten yet.
        var firstEnded = 0

        /// Forgets what ended long ago, and the oldest when it is too much: registering and deleting is quickly done.
        mutating func forget(_ now: Instant) {
            while firstEnded < endedInOrder.count,
                endedInOrder[firstEnded].until <= now || endedInOrder.count - firstEnded > RegistrationTable.memoryCount
            {
                ended[endedInOrder[firstEnded].id] = nil
                ended[endedInOrder[firstEnded].ticket] = nil
                firstEnded += 1
            }
            guard firstEnded > 64, firstEnded * 2 > endedInOrder.count else { return }
            endedInOrder.removeFirst(firstEnded)
            firstEnded = 0
        }

        mutating func leave(_ client: String) {
            let left = perClient[client, default: 1] - 1
            perClient[client] = left > 0 ? left : nil
        }
    }

    /// How long ended ones are told from those that never were.
    static let memorySeconds = 600.0
    /// How many of them, at the most.
    static let memoryCount = 10_000
    private let state = RankedMutex(.registrationTable, State())
    private let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { state.withLock { $0.byID.count } }
    /// When the next one that nobody reads ends; nil when there is none.
    var secondsToNextEnd: Double? { state.withLock { $0.byID.values.compactMap(\.secondsLeft).min() } }

    /// Makes room for a registration of a client, who is refused when it has too many.
    func reserve(_ client: String) throws(Problem) {
        sweep()
        let isTaken = state.withLock { state -> Bool in
            guard state.perClient[client, default: 0] < limits.registrations else { return false }
            state.perClient[client, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw .overLimit(.tooManyStreams, "too many registrations of one client", limit: limits.registrations)
        }
    }

    /// Gives back room that was not needed.
    func giveBack(_ client: String) { state.withLock { $0.leave(client) } }

    /// Adds a registration for which room was made.
    func add(_ registration: Registration) {
        state.withLock { state in
            state.byID[registration.id] = registration
            state.byTicket[registration.ticket] = registration
        }
    }

    /// Ends what nobody has read for its time.
    func sweep() {
        let now = Instant.now()
        let over = state.withLock { state -> [Registration] in
            state.forget(now)
            let over = state.byID.values.filter { $0.expire(now) }
            for registration in over { RegistrationTable.end(registration, now, &state) }
            return over
        }
        // Let go outside of the lock, as that lets go of channels.
        withExtendedLifetime(over) {}
    }

    private static func end(_ registration: Registration, _ now: Instant, _ state: inout State) {
        guard state.byID.removeValue(forKey: registration.id) != nil else { return }
        state.byTicket[registration.ticket] = nil
        state.leave(registration.client)
        let realm = registration.center.database.name.text
        state.ended[registration.id] = realm
        state.ended[registration.ticket] = realm
        state.endedInOrder.append((registration.id, registration.ticket, now.adding(seconds: memorySeconds)))
    }

    /// The registration of an id, in one realm. One that is over is `subscription_expired`, one that never was nil.
    func find(id: String, in database: Database) throws(Problem) -> Registration? {
        sweep()
        return try found(state.withLock { $0.byID[id] }, id, database)
    }

    func find(ticket: String, in database: Database) throws(Problem) -> Registration? {
        sweep()
        return try found(state.withLock { $0.byTicket[ticket] }, ticket, database)
    }

    private func found(_ registration: Registration?, _ name: String, _ database: Database) throws(Problem) -> Registration? {
        if let registration { return registration.center.database === database ? registration : nil }
        guard state.withLock({ $0.ended[name] }) == database.name.text else { return nil }
        throw Registration.expired
    }

    /// Ends a registration; false when it was over, or never was.
    func delete(id: String, in database: Database) -> Bool {
        sweep()
        guard let registration = state.withLock({ $0.byID[id] }), registration.center.database === database else { return false }
        state.withLock { RegistrationTable.end(registration, .now(), &$0) }
        return registration.delete()
    }

    /// Ends all of a realm that is closed. They are as if they never were.
    func deleteAll(of database: Database) {
        let registrations = state.withLock { state -> [Registration] in
            let all = state.byID.values.filter { $0.center.database === database }
            for registration in all {
                RegistrationTable.end(registration, .now(), &state)
                state.ended[registration.id] = nil
                state.ended[registration.ticket] = nil
            }
            return all
        }
        for registration in registrations { _ = registration.delete() }
    }
}
