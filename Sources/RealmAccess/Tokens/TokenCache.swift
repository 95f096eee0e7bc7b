// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Tokens that were verified, by the digest of their text.
///
/// There are two generations: tokens that are not used while the younger one fills up are dropped together, so that adding and
/// finding cost the same for any number. The lock of the `TokenVerifier` guards it.
struct TokenCache {
    /// One token. It is an object so that finding it copies nothing.
    final class Entry: Sendable {
        /// The content of the token.
        let token: VerifiedToken
        /// The bytes of the name of its issuer.
        let issuer: [UInt8]
        /// The digest of the key that has verified it.
        let fingerprint: [UInt8]
        /// Its approximate memory in bytes.
        let cost: Int

        /// Makes an entry for a token.
        init(_ token: VerifiedToken, issuer: [UInt8], fingerprint: [UInt8], payloadCost: Int) {
            self.token = token
            self.issuer = issuer
            self.fingerprint = fingerprint
            cost = 1024 + payloadCost + token.roles.reduce(0) { $0 + 32 + $1.utf8.count }
        }
    }

    private struct Generation {
        /// The tokens by their digest.
        var entries: [[UInt8]: Entry] = [:]
        /// The memory of all of them.
        var cost = 0

        /// Adds a token that it does not have.
        mutating func add(_ entry: Entry, _ digest: [UInt8]) {
            cost += entry.cost - (entries.updateValue(entry, forKey: digest)?.cost ?? 0)
        }

        mutating func remove(_ digest: [UInt8]) -> Entry? {
            let entry = entries.removeValue(forKey: digest)
            cost -= entry?.cost ?? 0
            return entry
        }
    }

    /// Dropped tokens, which the caller releases without the lock.
    struct Dropped {
        fileprivate var entries: [[UInt8]: Entry] = [:]
    }

    private var young = Generation()
    private var old = Generation()

    var count: Int { young.entries.count + old.entries.count }
    /// The approximate memory of all of them in bytes.
    var cost: Int { young.cost + old.cost }

    /// Returns a token that is still accepted.
    ///
    /// - Parameters:
    ///   - digest: The digest of its text.
    ///   - now: The time of day.
    ///   - limit: The memory that all tokens may take.
    ///   - dropped: Receives the dropped tokens.
    mutating func find(_ digest: [UInt8], at now: WallClock, limit: Int, _ dropped: inout Dropped) -> VerifiedToken? {
        if let entry = young.entries[digest] {
            if now.nanoseconds < entry.token.acceptedUntil.nanoseconds { return entry.token }
            _ = young.remove(digest)
        } else if let entry = old.remove(digest), now.nanoseconds < entry.token.acceptedUntil.nanoseconds {
            add(entry, digest, limit: limit, &dropped)
            return entry.token
        }
        return nil
    }

    /// Adds a token. One that is larger than its share of the memory is not kept.
    ///
    /// - Parameters:
    ///   - digest: The digest of its text.
    ///   - limit: The memory that all tokens may take.
    ///   - dropped: Receives the dropped tokens.
    mutating func add(_ entry: Entry, _ digest: [UInt8], limit: Int, _ dropped: inout Dropped) {
        guard entry.cost <= limit / 2 else { return }
        if young.cost + entry.cost > limit / 2 {
            dropped.entries = old.entries
            old = young
            young = Generation()
        }
        young.add(entry, digest)
    }

    /// Removes the tokens of an issuer that were verified with other keys than those.
    mutating func keep(_ fingerprints: Set<[UInt8]>, of issuer: [UInt8]) {
        let isGone = { (entry: Entry) in entry.issuer == issuer && !fingerprints.contains(entry.fingerprint) }
        for (digest, entry) in young.entries where isGone(entry) { _ = young.remove(digest) }
        for (digest, entry) in old.entries where isGone(entry) { _ = old.remove(digest) }
    }
}
