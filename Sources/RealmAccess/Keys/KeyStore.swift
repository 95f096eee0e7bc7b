// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The API keys of a running server.
///
/// `refresh` is called regularly and reads the file again when any program has changed it. A key that is gone, has another secret
/// or other rights ends its principal. Looking a key up reads memory only, and takes the same steps for unknown ids as for known
/// ones. Any thread may use the store; functions that say so wait for the disk.
package final class KeyStore: Sendable {
    /// A key with its principal, which stay the same until the key changes.
    private final class LiveKey: Sendable {
        let record: APIKey
        /// The principal of all holders of the key.
        let principal: Principal
        /// The principal that ends with the last of the keys that have had this id in turn.
        let tenure: Principal
        /// The time of the last use, in minutes since 1970; 0 for never.
        let lastUsed: Atomic<Int64>

        /// Makes a key that is in force from now on.
        ///
        /// - Parameters:
        ///   - former: The key in whose place it is put; nil for none.
        init(_ record: APIKey, after former: LiveKey?) {
            self.record = record
            tenure = former?.tenure ?? Principal(kind: .key)
            lastUsed = Atomic((record.lastUsed ?? 0) / 60)
            principal = Principal(
                kind: .key, id: record.id, name: record.name, roles: record.roles, claims: record.allClaims, realm: record.realm,
                networks: record.networks,
                expiresAt: record.expires.map {
                    WallClock(nanoseconds: min($0, Int64.max / 1_000_000_000) * 1_000_000_000)
                }, parent: tenure)
        }
    }

    /// The keys in force, and the state of the file when it was last read, guarded by the lock.
    private struct State {
        /// The keys by the bytes of their ids.
        var keys: [UInt64: LiveKey] = [:]
        /// The facts of the system about the file when it was last read; nil without a file.
        var facts: System.FileFacts?
        /// The reason why the file could not be read; nil when it could.
        var failure: String?
        /// The time at which the times of use were last stored.
        var stored = Instant.now()
    }

    /// The file; nil for a server without a data folder, which has only the key that it was started with.
    package let file: KeyFile?
    /// Keys that are not in the file.
    private let extraKeys: [APIKey]
    private let state = RankedMutex(.leaf, State())
    /// Whether there are credentials, which stays true once it is.
    private let configured = Atomic<Bool>(false)
    /// Whether a thread is storing the times of use.
    private let isStoring = Atomic<Bool>(false)
    /// The seconds between two times at which the times of use are stored.
    private static let secondsBetweenStores = 60.0
    /// A digest that no secret has, with which the secret of an unknown id is compared.
    private static let noDigest = [UInt8](repeating: 0, count: DigestContext.digestByteCount)

    /// Makes a store, and reads the file. It waits for the disk.
    ///
    /// - Parameters:
    ///   - file: The file; nil for none.
    ///   - extraKeys: Keys that are in force without being in the file.
    package init(_ file: KeyFile? = nil, extraKeys: [APIKey] = []) {
        self.file = file
        self.extraKeys = extraKeys
        configured.store(!extraKeys.isEmpty, ordering: .relaxed)
        _ = refresh(force: true)
    }

    deinit { for key in state.withLock({ Array($0.keys.values) }) { key.tenure.end() } }

    /// Whether the server has credentials: it has keys, or a file of them has been there, in any state.
    package var isConfigured: Bool { configured.load(ordering: .acquiring) }
    /// The reason why the file cannot be read; nil when it can. All of its keys are refused until it can.
    package var failure: String? { state.withLock { $0.failure } }
    /// The number of keys in force.
    package var count: Int { state.withLock { $0.keys.count } }

    // MARK: - Looking up

    /// Returns the principal of a key.
    ///
    /// - Parameters:
    ///   - text: The key that a request has.
    ///   - address: The address from which it came.
    ///   - now: The time of the request.
    /// - Returns: The principal; nil for a key that is unknown, has another secret, has expired, or may not be used from there.
    package func principal(of text: APIKeyText, from address: String, _ now: WallClock = .now()) -> Principal? {
        let key = state.withLock { $0.keys[text.idWord] }
        let isRight = SecretDigest.areEqual(text.digest, key?.record.digest ?? KeyStore.noDigest)
        guard let key, isRight, !key.principal.isOver, key.principal.mayBeUsed(from: address) else { return nil }
        let minute = now.nanoseconds / 60_000_000_000
        if key.lastUsed.load(ordering: .relaxed) < minute { key.lastUsed.store(minute, ordering: .relaxed) }
        return key.principal
    }

    /// The keys in force with the times of their last use, in the order of their making.
    package var all: [APIKey] {
        state.withLock { Array($0.keys.values) }.map { key in
            var record = key.record
            let minutes = key.lastUsed.load(ordering: .relaxed)
            record.lastUsed = minutes > 0 ? minutes * 60 : nil
            return record
        }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    // MARK: - Following the file

    /// Reads the file again if it has changed since; one system call if it has not. It waits for the disk if it has.
    ///
    /// - Parameter force: Whether the file is read in any case.
    /// - Returns: The reason why the file cannot be read, if that is new.
    @discardableResult
    package func refresh(force: Bool = false) -> String? {
        let facts = file?.facts
        if facts != nil { configured.store(true, ordering: .releasing) }
        guard force || facts != state.withLock({ $0.facts }) else { return nil }
        var records = extraKeys
        var failure: String?
        do throws(KeyFile.Failure) {
            records += try file?.read() ?? []
        } catch {
            failure = error.description
            records = []
        }
        let news = failure
        let (old, isNew) = state.withLock { state -> (Replaced, Bool) in
            defer { (state.facts, state.failure) = (facts, news) }
            return (KeyStore.replace(&state.keys, with: records), news != nil && news != state.failure)
        }
        for key in old.changed { key.principal.end(isReplaced: true) }
        for key in old.gone { key.tenure.end() }
        return isNew ? news : nil
    }

    /// The keys that are no longer in force: those that have another secret or other rights now, and those that are gone.
    private typealias Replaced = (changed: [LiveKey], gone: [LiveKey])

    /// Replaces the keys, except for those that have not changed.
    ///
    /// - Returns: Those that are no longer in force.
    private static func replace(_ keys: inout [UInt64: LiveKey], with records: [APIKey]) -> Replaced {
        var left = keys
        var changed: [LiveKey] = []
        keys = [:]
        for record in records {
            let word = APIKeyText.word(record.id.utf8)
            guard keys[word] == nil else { continue }
            let known = left.removeValue(forKey: word)
            if let known, known.record.isSame(as: record) {
                keys[word] = known
            } else {
                keys[word] = LiveKey(record, after: known)
                if let known { changed.append(known) }
            }
        }
        return (changed, Array(left.values))
    }

    /// Whether it is time to store when keys were used, which `storeUses` does.
    package var isStoreDue: Bool {
        state.withLock { state in
            guard state.failure == nil, Instant.now().seconds(since: state.stored) >= KeyStore.secondsBetweenStores else {
                return false
            }
            state.stored = .now()
            return state.keys.values.contains { $0.lastUsed.load(ordering: .relaxed) > ($0.record.lastUsed ?? 0) / 60 }
        }
    }

    /// Stores when keys were used. It waits for the disk; where the file cannot be written, the times are lost.
    package func storeUses() {
        guard let file, file.exists, !isStoring.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer { isStoring.store(false, ordering: .releasing) }
        let uses = Dictionary(texts: all.map { ($0.id, $0.lastUsed ?? 0) }) { first, _ in first }
        _ = try? file.change { keys throws(KeyFile.Failure) in
            for index in keys.indices {
                guard let used = uses[keys[index].id], used > keys[index].lastUsed ?? 0 else { continue }
                keys[index].lastUsed = used
            }
        }
    }
}

extension KeyStore {
    /// Writes the metrics of the store.
    ///
    /// - Parameter text: The metrics page that is being written.
    func write(to text: inout MetricsText) {
        text.gauge("keys", "API keys in force.", count)
        text.gauge(
            "keys_unreadable", "1 while the file of API keys cannot be read, so that every key is refused.",
            failure == nil ? 0 : 1)
    }
}
