// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Subscriptions under names that a client registered, to be read by several requests.
final class Registration: Sendable {
    private struct State {
        var expires: Instant
        var isOver = false
        var readers: [ObjectIdentifier: any ChangeSubscriber] = [:]
    }

    let id = "s_" + RandomName.make()
    /// A secret for the URL: it permits reading this registration without other credentials, and nothing else.
    let ticket = RandomName.make()
    let client: String
    let notifications: RealmNotifications
    let subs: [ReadSubscription]
    /// Everything is observed from here on.
    let version: String
    private let seconds: Double
    private let becameIdle: @Sendable () -> Void
    private let state: RankedMutex<State>

    /// Takes over the hold on the feeds. `becameIdle` is called when its last reader has left.
    init(
        _ subs: [ReadSubscription], _ notifications: RealmNotifications, client: String, version: String, seconds: Int,
        becameIdle: @escaping @Sendable () -> Void
    ) {
        self.becameIdle = becameIdle
        self.subs = subs
        self.notifications = notifications
        self.client = client
        self.version = version
        self.seconds = Double(seconds)
        state = RankedMutex(.registration, State(expires: Instant.now().adding(seconds: Double(seconds))))
    }

    deinit {
        for sub in subs { notifications.release(sub.feed) }
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Seconds until it expires; nil while it has a reader.
    var secondsLeft: Double? {
        state.withLock { state in
            guard state.readers.isEmpty else { return nil }
            return max(0, state.expires.seconds(since: .now()))
        }
    }

    var streamCount: Int { state.withLock { $0.readers.values.count(where: \.isStream) } }

    // MARK: - Readers

    /// The subscriptions for one reader, with a hold on each feed that the reader gives up.
    func hold() -> [ReadSubscription] {
        for sub in subs { sub.feed.retain() }
        return subs
    }

    /// Adds a reader: the registration does not expire while it has one.
    func open(_ reader: any ChangeSubscriber) { state.withLock { $0.readers[ObjectIdentifier(reader)] = reader } }

    /// Removes a reader. The time until the registration expires begins anew.
    func close(_ reader: any ChangeSubscriber) {
        let (removed, isIdle) = state.withLock { state in
            let removed = state.readers.removeValue(forKey: ObjectIdentifier(reader))
            state.expires = Instant.now().adding(seconds: seconds)
            return (removed, state.readers.isEmpty && !state.isOver)
        }
        withExtendedLifetime(removed) {}
        HeldLocks.assertNone()
        if isIdle { becameIdle() }
    }

    /// Ends it if its time is over and it has no reader; returns whether it has ended.
    func expire(_ now: Instant) -> Bool {
        state.withLock { state in
            guard !state.isOver, state.readers.isEmpty, state.expires <= now else { return state.isOver }
            state.isOver = true
            return true
        }
    }

    /// Ends it and its readers; false when it had ended before.
    func delete() -> Bool {
        let readers = state.withLock { state -> [any ChangeSubscriber]? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return Array(state.readers.values)
        }
        guard let readers else { return false }
        readers.end(.registrationDeleted)
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
        writer.member(
            "url", text: "/v1/realms/\(PercentDecoding.encode(notifications.database.name.text))/changes?ticket=\(ticket)")
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
            sub.feed.definition.write(to: &writer)
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
