// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Verifies JSON Web Tokens of the issuers that the configuration names.
///
/// Invariants:
/// * No part of a token is trusted before its signature was verified, except the names of its issuer, its algorithm and its key,
///   which only choose among those of the configuration and the issuers.
/// * An issuer's source decides which algorithms may be used, and so does each key: see `IssuerSettings.allows` and
///   `VerificationKey`.
/// * A token that is known was verified with a key that its issuer still has: keys and known tokens change under the
///   same lock.
///
/// Signatures are verified by `SharedThreads.signatures`, keys are read on separate threads. No thread of a caller waits, and any
/// thread may call.
package final class TokenVerifier: Sendable {
    /// The reason why issuers cannot be used.
    package struct Failure: Error, CustomStringConvertible {
        /// The error, as a sentence without a full stop.
        package let description: String
    }

    /// The state under the lock.
    struct State {
        /// The issuers by the bytes of their names.
        var issuers: [[UInt8]: TokenIssuer] = [:]
        /// The tokens that are known.
        var cache = TokenCache()
        /// The numbers of verified and refused tokens.
        var counts = TokenCounts()
        /// The number of tokens that are being verified.
        var running = 0
        /// The number of tokens that wait for keys.
        var waiting = 0
        /// The number of issuers that there have been.
        var epochs = 0
    }

    /// The number of tokens that may wait for keys. It is lower than the number that may be verified at a time, because anyone
    /// can send a token that names an unknown key.
    private static let waitingLimit = 64

    /// The longest wait for the end of readings when the server stops, while realms are closed, which has most of a second.
    private static let stopSeconds = 0.3

    let state = RankedMutex(.leaf, State())
    /// A number that changes whenever known tokens are dropped.
    let generation = Atomic<Int>(0)
    /// The number of tokens that were not asked for because their principals were remembered.
    let repeated = Atomic<UInt64>(0)
    /// The limits in force.
    let limits: LiveLimits
    /// The intervals of reading keys.
    let timing: TokenTiming
    /// Receives failures of a source of keys, and their ends.
    let logger: Logger
    /// Returns the time of day.
    private let clock: @Sendable () -> WallClock
    /// The threads that read keys and check whether they are due.
    let keeper = KeyKeeper()
    /// Ends readings when the server stops.
    let control = WorkControl()

    /// Makes a verifier that knows no issuers, and refuses all tokens.
    ///
    /// - Parameters:
    ///   - limits: The limits in force.
    ///   - timing: The intervals of reading keys.
    ///   - logger: Receives failures of a source of keys, and their ends.
    ///   - clock: Returns the time of day.
    package init(
        _ limits: LiveLimits = LiveLimits(Limits()), timing: TokenTiming = TokenTiming(),
        logger: Logger = Logger(label: "tokens") { _ in SwiftLogNoOpLogHandler() },
        clock: @escaping @Sendable () -> WallClock = { WallClock.now() }
    ) {
        self.limits = limits
        self.timing = timing
        self.logger = logger
        self.clock = clock
    }

    /// Makes a verifier of tokens of some issuers.
    ///
    /// - Parameters:
    ///   - keySets: Has the keys that were read when the configuration was checked. It forgets them.
    ///   - limits: The limits in force.
    ///   - timing: The intervals of reading keys.
    ///   - logger: Receives failures of a source of keys, and their ends.
    ///   - clock: Returns the time of day.
    /// - Throws: `Failure`, as `replace(with:_:)`.
    package convenience init(
        _ issuers: [IssuerSettings], _ keySets: KeySetFiles = KeySetFiles(), limits: LiveLimits = LiveLimits(Limits()),
        timing: TokenTiming = TokenTiming(), logger: Logger = Logger(label: "tokens") { _ in SwiftLogNoOpLogHandler() },
        clock: @escaping @Sendable () -> WallClock = { WallClock.now() }
    ) throws(Failure) {
        self.init(limits, timing: timing, logger: logger, clock: clock)
        try replace(with: issuers, keySets)
    }

    // A thread that reads keys may release the last reference, so nothing is waited for.
    deinit { stopReading() }

    /// Ends the reading of keys, and waits for it, but not for long. Tokens of known keys are verified as before.
    package func stop() {
        stopReading()
        keeper.waitForEnd(seconds: TokenVerifier.stopSeconds)
    }

    /// Ends the reading of keys: of a document before its next key, of an address within about a second.
    package func stopReading() {
        keeper.stop()
        control.cancel()
    }

    // MARK: - Tokens

    /// Returns a token that was verified before and is still accepted; nil for all others.
    ///
    /// It costs a digest and a look-up, and waits for nothing.
    ///
    /// - Parameter token: The text of the token.
    package func known(_ token: String) -> VerifiedToken? {
        let limits = limits.current
        guard token.utf8.count <= limits.tokenBytes, let digest = try? FileDigest.sha256(Array(token.utf8)) else { return nil }
        let now = clock()
        let (found, dropped) = state.withLock { state -> (VerifiedToken?, TokenCache.Dropped) in
            var dropped = TokenCache.Dropped()
            let token = state.cache.find(digest, at: now, limit: limits.tokenCacheBytes, &dropped)
            if token != nil { state.counts.countKnown() }
            return (token, dropped)
        }
        withExtendedLifetime(dropped) {}
        return found
    }

    /// Verifies a token. The caller has found that it is not known.
    ///
    /// - Parameters:
    ///   - token: The text of the token.
    ///   - then: Called once: at once where nothing has to be verified, else on another thread. It may take
    ///     `TokenTiming.answerSeconds` when the keys of the issuer have to be fetched first.
    package func verify(_ token: String, then: @escaping @Sendable (TokenOutcome) -> Void) {
        let limits = limits.current
        guard token.utf8.count <= limits.tokenBytes else { return refuse(.tooLong, then) }
        let isTaken = state.withLock { state -> Bool in
            guard state.running < limits.tokenVerifications else { return false }
            state.running += 1
            return true
        }
        guard isTaken else { return refuse(.overloaded, then) }
        do throws(Threads.Failure) {
            try SharedThreads.signatures.submit { [self] in proceed(token, then) }
        } catch {
            state.withLock { $0.running -= 1 }
            refuse(.overloaded, then)
        }
    }

    /// Refuses a token that takes no place among those that are being verified.
    private func refuse(_ refusal: TokenRefusal, _ then: (TokenOutcome) -> Void) {
        state.withLock { $0.counts.count(refusal) }
        HeldLocks.assertNone()
        then(refusal == .overloaded ? .overloaded : .refused)
    }

    /// Verifies a token that has a place among those that are being verified.
    private func proceed(_ text: String, _ then: @escaping @Sendable (TokenOutcome) -> Void) {
        do throws(TokenRefusal) {
            let token = try CompactToken(text)
            guard case .string(let issuer)? = token.payload.member(exactly: "iss") else { throw .issuer }
            attempt(Candidate(text: text, token: token, issuer: Array(issuer.utf8)), mayWait: true, then)
        } catch {
            end(.failure(error), then)
        }
    }

    /// A token that may be good.
    private struct Candidate: Sendable {
        let text: String
        /// The parts of its text.
        let token: CompactToken
        /// The bytes of the claim `iss`.
        let issuer: [UInt8]
    }

    /// Verifies a token, once more after its issuer's keys were read if it lacks a key.
    private func attempt(_ candidate: Candidate, mayWait: Bool, _ then: @escaping @Sendable (TokenOutcome) -> Void) {
        do throws(TokenRefusal) {
            end(.success(try verified(candidate)), then)
        } catch {
            let lacksKey = error == .key || error == .noKeys
            if lacksKey, mayWait, waitForKeys(of: candidate.issuer, { [self] in attempt(candidate, mayWait: false, then) }) {
                return
            }
            end(.failure(error), then)
        }
    }

    /// Releases the place of a token, and reports the outcome.
    private func end(_ result: Result<VerifiedToken, TokenRefusal>, _ then: @Sendable (TokenOutcome) -> Void) {
        state.withLock { state in
            state.running -= 1
            switch result {
            case .success: state.counts.countVerified()
            case .failure(let refusal): state.counts.count(refusal)
            }
        }
        HeldLocks.assertNone()
        then((try? result.get()).map { .verified($0) } ?? .refused)
    }

    /// Verifies a token with the present keys, and keeps it; once more if the issuers were replaced in the meantime.
    private func verified(_ candidate: Candidate, isRepeated: Bool = false) throws(TokenRefusal) -> VerifiedToken {
        guard let issuer = state.withLock({ $0.issuers[candidate.issuer] }) else { throw .issuer }
        guard issuer.settings.allows(candidate.token.algorithm) else { throw .algorithm }
        guard let set = issuer.keys else { throw .noKeys }
        let keys = set.candidates(for: candidate.token)
        guard !keys.isEmpty else { throw .key }
        guard let key = keys.first(where: { $0.verifies(candidate.token) }) else { throw .signature }
        let warrant = state.withLock { $0.issuers[candidate.issuer]?.warrant(of: key) }
        let verified = try TokenClaims(candidate.token.payload, of: issuer.settings, warrant: warrant).verified(at: clock())
        if keep(verified, candidate, key, of: issuer) { return verified }
        guard !isRepeated else { throw .key }
        return try self.verified(candidate, isRepeated: true)
    }

    /// Keeps a verified token.
    ///
    /// - Returns: Whether its issuer is as it was when the token was verified, and still has that key.
    private func keep(
        _ verified: VerifiedToken, _ candidate: Candidate, _ key: VerificationKey, of issuer: TokenIssuer
    ) -> Bool {
        let digest = try? FileDigest.sha256(Array(candidate.text.utf8))
        let limit = limits.current.tokenCacheBytes
        let entry = TokenCache.Entry(
            verified, issuer: candidate.issuer, fingerprint: key.fingerprint, payloadCost: candidate.token.payloadCost)
        let (isCurrent, dropped) = state.withLock { state -> (Bool, TokenCache.Dropped) in
            var dropped = TokenCache.Dropped()
            guard let current = state.issuers[candidate.issuer], current.epoch == issuer.epoch,
                current.settings == issuer.settings, current.keys?.fingerprints.contains(key.fingerprint) == true
            else { return (false, dropped) }
            if let digest { state.cache.add(entry, digest, limit: limit, &dropped) }
            return (true, dropped)
        }
        withExtendedLifetime(dropped) {}
        return isCurrent
    }

    /// Lets a token wait until the keys of its issuer were read, if they are being read or may be now.
    ///
    /// - Parameters:
    ///   - issuer: The bytes of the name of the issuer.
    ///   - next: Called afterwards.
    /// - Returns: Whether it waits.
    private func waitForKeys(of issuer: [UInt8], _ next: @escaping @Sendable () -> Void) -> Bool {
        let waiter: TokenIssuer.Waiter = { [self] in
            state.withLock { state in
                state.waiting -= 1
                state.running += 1
            }
            next()
        }
        let now = Instant.now()
        let (waits, epoch) = state.withLock { state -> (waits: Bool, epoch: Int?) in
            guard var found = state.issuers[issuer], state.waiting < TokenVerifier.waitingLimit else { return (false, nil) }
            let begins = found.mayRead(at: now, timing)
            guard found.isReading || begins else { return (false, nil) }
            if begins { found.begin(at: now) }
            found.wait(waiter)
            state.issuers[issuer] = found
            state.running -= 1
            state.waiting += 1
            return (true, begins ? found.epoch : nil)
        }
        if let epoch { readKeys(of: issuer, epoch) }
        return waits
    }
}

package enum TokenOutcome: Sendable {
    /// The token is good.
    case verified(VerifiedToken)
    /// It is not; the client does not learn the reason.
    case refused
    /// Too many tokens are being verified; it is worth trying again.
    case overloaded

    /// The token, when it is good.
    package var token: VerifiedToken? {
        if case .verified(let token) = self { return token }
        return nil
    }
}

/// The numbers of verified and refused tokens. The lock of the `TokenVerifier` guards it.
struct TokenCounts {
    /// The number of tokens that were verified by their signature.
    private(set) var verified: UInt64 = 0
    /// The number of tokens that were known already.
    private(set) var known: UInt64 = 0
    /// The number of refused tokens, by the reason.
    private(set) var refused: [TokenRefusal: UInt64] = [:]

    mutating func countVerified() { verified += 1 }
    mutating func countKnown() { known += 1 }
    mutating func count(_ refusal: TokenRefusal) { refused[refusal, default: 0] += 1 }

    /// Writes the numbers as metrics.
    ///
    /// - Parameters:
    ///   - text: The metrics page that is being written.
    ///   - repeated: The number of tokens that were known from the request before on the same connection.
    func write(to text: inout MetricsText, repeated: UInt64) {
        text.counter(
            "tokens_accepted_total", "JSON Web Tokens that were accepted: verified, or in the cache.", by: "by",
            [("signature", verified), ("cache", known + repeated)])
        text.counter(
            "tokens_refused_total", "JSON Web Tokens that were refused, by the reason.", by: "reason",
            TokenRefusal.allCases.map { ($0.rawValue, refused[$0] ?? 0) })
    }
}
