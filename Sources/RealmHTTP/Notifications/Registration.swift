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
