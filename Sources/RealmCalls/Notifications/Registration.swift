// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A set of subscriptions under names that a client has registered, in order to read all of them on one stream.
///
/// `POST …/subscriptions` makes one, and `RegistrationTable` keeps it. It has an id for the server's API and a secret ticket
/// for the URL of a stream, since browsers cannot send credentials there. It holds its feeds, so changes are kept from its
/// first version on, and expires some time after its last reader has left. A lock guards its state.
package final class Registration: Sendable {
    /// The readers and the expiry of a registration, guarded by its lock.
    private struct State {
        /// The expiry of the registration, unless it has a reader.
        var expires: Instant
        /// Whether the registration has expired or was deleted.
        var isOver = false
        /// The streams and polls that read the registration, by identity.
        var readers: [ObjectIdentifier: any ChangeSubscriber] = [:]
    }

    /// The id of the registration in URLs, which is random, so that it cannot be guessed.
    package let id = "s_" + RandomName.make()
    /// The secret in the URL of a stream. It permits reading this registration without other credentials, and nothing else.
    let ticket = RandomName.make()
    /// The client that made the registration, for the limit per client.
    let client: String
    /// The principal that made it, for which alone it exists.
    let standing: Standing
    /// The principal that made it.
    var principal: Principal { standing.principal }
    /// The rights of its maker.
    let rights: String
    /// The name under which it belongs to its maker.
    let owner: String
    /// The subscriptions with a hold on each feed. The holds are released with the registration.
    private let holds: FeedHolds
    /// The notifications of the realm that the registered subscriptions are about.
    package var notifications: RealmNotifications { holds.notifications }
    /// The subscriptions, in the order in which the client named them.
    var subs: [ReadSubscription] { holds.subs }
    /// The token of the version from which all subscriptions are observed.
    let version: String
    /// The lifetime in seconds without a reader.
    private let seconds: Double
    /// The memory of its definitions, counted for its client.
    private let share: ObservedShare
    /// Called when the last reader has left, so that a timer is set for the expiry.
    private let becameIdle: @Sendable () -> Void
    private let state: RankedMutex<State>

    /// Makes a registration, which takes over the holds on the feeds.
    ///
    /// - Parameters:
    ///   - holds: The subscriptions, with a hold on each feed.
    ///   - call: The request of the client that registers them.
    ///   - version: The token of the version that all feeds have reached.
    ///   - seconds: The lifetime in seconds without a reader.
    ///   - share: The memory of its definitions, counted for its client.
    ///   - becameIdle: Called without a lock when the last reader has left.
    package init(
        _ holds: FeedHolds, for call: Call, version: String, seconds: Int, share: ObservedShare,
        becameIdle: @escaping @Sendable () -> Void
    ) {
        self.becameIdle = becameIdle
        self.share = share
        self.holds = holds
        client = call.account
        standing = call.standing
        rights = call.rightsIdentity
        owner = call.owner
        self.version = version
        self.seconds = Double(seconds)
        state = RankedMutex(.registration, State(expires: Instant.now().adding(seconds: Double(seconds))))
    }

    /// The seconds until the registration expires; nil while it has a reader.
    var secondsLeft: Double? {
        state.withLock { state in
            guard state.readers.isEmpty else { return nil }
            return max(0, state.expires.seconds(since: .now()))
        }
    }

    var streamCount: Int { state.withLock { $0.readers.values.count(where: \.isStream) } }

    // MARK: - Readers

    /// Returns the subscriptions for one reader, with another hold on each feed.
    package func hold() -> FeedHolds {
        for sub in subs { sub.feed.retain() }
        return FeedHolds(subs, in: notifications)
    }

    /// Adds a reader. The registration does not expire while it has one.
    func open(_ reader: any ChangeSubscriber) { state.withLock { $0.readers[ObjectIdentifier(reader)] = reader } }

    /// Removes a reader. When it was the last one, the time until the registration expires begins.
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

    /// Ends the registration if its time has passed and it has no reader.
    ///
    /// - Returns: Whether the registration has ended, now or before.
    func expire(_ now: Instant) -> Bool {
        state.withLock { state in
            guard !state.isOver, state.readers.isEmpty, state.expires <= now else { return state.isOver }
            state.isOver = true
            return true
        }
    }

    /// Ends the registration and its readers.
    ///
    /// - Returns: False when it had ended before.
    func delete() -> Bool {
        let readers = state.withLock { state -> [any ChangeSubscriber]? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return Array(state.readers.values)
        }
        guard let readers else { return false }
        // If it ends with a credential, the same one may have ended its readers at this moment.
        readers.filter { !$0.standing.isInForce }.end(.unauthenticated)
        readers.end(.registrationDeleted)
        return true
    }

    /// The problem for a registration that has expired or was deleted. The client registers again.
    static let expired = Problem(.subscriptionExpired, "this registration has ended; register again")

    // MARK: - Skips

    /// Whether a text may be the id of a registration that has ended: this server forgets them after a while, and a restart all of them.
    static func isPossibleID(_ text: String) -> Bool {
        text.utf8.starts(with: "s_".utf8) && RandomName.isPossible(text.utf8.dropFirst(2))
    }

    /// Returns the subscriptions that a write shall skip.
    ///
    /// - Parameter name: The name of a subscription; nil means all of them.
    /// - Returns: The subscriptions; nil when there is none of the name.
    func skipped(_ name: String?) -> [ReadSubscription]? {
        guard let name else { return subs }
        return subs.first { $0.name == name }.map { [$0] }
    }

    // MARK: - Documents

    /// The body of the response that created the registration: id, URL, version and expiry.
    package var created: OutputBuffer {
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

    /// The body of the response that describes the registration: its definitions, version, expiry and number of streams.
    package var document: OutputBuffer {
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

    /// Writes `expiresAt`: the time of expiry, or null while the registration has a reader.
    private func writeExpiry(_ writer: inout JSONWriter) {
        guard let left = secondsLeft else { return writer.nullMember("expiresAt") }
        writer.member("expiresAt", time: WallClock(nanoseconds: WallClock.now().nanoseconds + Int64(left * 1e9)))
    }
}
