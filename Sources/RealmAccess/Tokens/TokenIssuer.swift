// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// An issuer with its keys, and the state of their reading. The lock of the `TokenVerifier` guards it.
struct TokenIssuer {
    /// Called when a reading has ended.
    typealias Waiter = @Sendable () -> Void

    /// The requirements for its tokens.
    var settings: IssuerSettings
    /// Distinguishes it from an issuer of the same name of another configuration, whose readings may still run.
    let epoch: Int
    /// Its keys; nil until they were read for the first time.
    var keys: KeySet?
    /// Whether its keys are being read.
    private(set) var isReading = false
    /// The tokens that wait for the reading.
    private(set) var waiters: [Waiter] = []
    /// The principals whose end also ends those of its tokens, by the fingerprint of the key that has verified these.
    private(set) var warrants: [[UInt8]: Principal] = [:]
    /// The time at which the last reading began.
    private var lastReading: Instant?
    /// The time at which the next one is due; nil while only a change of the file makes it due.
    private var due: Instant?
    /// The file as it was before the last reading.
    private var mark: KeyLoader.FileMark?
    /// The number of readings that have failed since the last one that did not.
    private(set) var failuresInRow = 0
    /// The number of readings that have brought keys.
    private(set) var successCount = 0
    /// The number of readings that have failed.
    private(set) var failureCount = 0

    /// Makes an issuer without keys, whose address is due to be read.
    init(_ settings: IssuerSettings, epoch: Int) {
        self.settings = settings
        self.epoch = epoch
        if case .url = settings.source { due = Instant(nanoseconds: 0) }
    }

    /// The path of the file with its public keys; nil for other sources.
    private var path: String? {
        if case .file(let path) = settings.source { return path }
        return nil
    }

    /// The path at which a change makes a reading due, and the file that was there; nil where there is none to check.
    var watched: (path: String, mark: KeyLoader.FileMark?)? { isReading ? nil : path.map { ($0, mark) } }

    /// Returns whether a reading is due at a time.
    func isDue(at now: Instant) -> Bool { !isReading && (due.map { $0 <= now } ?? false) }

    /// Returns whether the keys may be read for a token whose key is unknown, which any client can send.
    func mayRead(at now: Instant, _ timing: TokenTiming) -> Bool {
        if case .secretFile = settings.source { return false }
        return !isReading && (lastReading.map { now.seconds(since: $0) >= timing.unknownKeyPause } ?? true)
    }

    /// Records that a reading has begun.
    mutating func begin(at now: Instant) {
        isReading = true
        lastReading = now
    }

    /// Notes which file is going to be read, so that it is read once for each of its changes, also if it cannot be used.
    mutating func note(_ mark: KeyLoader.FileMark?) { self.mark = mark }

    /// Adds a waiter for the reading.
    mutating func wait(_ waiter: @escaping Waiter) { waiters.append(waiter) }

    /// Removes and returns the waiters for the reading.
    mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// Returns the principal whose end also ends that of a token which a key has verified.
    mutating func warrant(of key: VerificationKey) -> Principal {
        if let warrant = warrants[key.fingerprint] { return warrant }
        let warrant = Principal(kind: .jwt)
        warrants[key.fingerprint] = warrant
        return warrant
    }

    /// Takes over the warrants of the issuer in whose place this one is put, unless its tokens mean something else now.
    ///
    /// - Returns: The warrants that end.
    mutating func takeWarrants(of old: TokenIssuer) -> [Principal] {
        warrants = settings == old.settings ? old.warrants : [:]
        return settings == old.settings ? dropWarrants() : Array(old.warrants.values)
    }

    /// Drops the warrants of keys that there are no longer, and returns them.
    mutating func dropWarrants() -> [Principal] {
        guard let fingerprints = keys?.fingerprints else { return [] }
        let gone = warrants.filter { !fingerprints.contains($0.key) }
        for fingerprint in gone.keys { warrants[fingerprint] = nil }
        return Array(gone.values)
    }

    /// Records the result of a reading.
    ///
    /// - Returns: Whether the source works now and did not before, or the other way round.
    mutating func end(_ result: Result<KeyLoader.Loaded, KeyLoader.Defect>, at now: Instant, _ timing: TokenTiming) -> Bool {
        isReading = false
        let hadFailed = failuresInRow > 0
        switch result {
        case .success(let loaded):
            keys = loaded.keys
            mark = loaded.mark
            failuresInRow = 0
            successCount += 1
            if case .url = settings.source { due = now.adding(seconds: timing.refresh(after: loaded.age)) }
            if path != nil { due = nil }
            return hadFailed
        case .failure:
            failuresInRow += 1
            failureCount += 1
            // A file may be in the middle of being written, which its next look need not show.
            due = now.adding(seconds: timing.pause(after: failuresInRow))
            return !hadFailed
        }
    }
}
