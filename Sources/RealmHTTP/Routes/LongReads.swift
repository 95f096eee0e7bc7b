// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Remembers reads that were just too long for the threads of the daemon, so that similar ones go to a worker at once.
///
/// Without it each of them would first keep a shared thread busy, only to be restarted. Reads are alike when they are sent by the
/// same client to the same path with the same parameters, but for numbers and quoted texts in them. An entry is forgotten after a
/// second, and when a similar read turns out to be brief. Of reads that share a slot the last one is known, so a read may be
/// tried on the daemon's thread, or given to a worker, in vain, which affects only the time.
package final class LongReads: Sendable {
    /// A read that was too long.
    private struct Note {
        /// The hash that it shares with similar reads.
        var shape: Int
        /// The time at which it is forgotten.
        var end: Instant
    }

    /// The number of reads that can be remembered.
    private static let slotCount = 64
    /// The retention of a read, in seconds.
    private static let seconds = 1.0
    /// A read that takes less of a worker's time, in seconds, is not long.
    private static let briefSeconds = 0.0005

    /// The reads that are known, by their shape.
    private let slots = RankedMutex(.leaf, [Note?](repeating: nil, count: LongReads.slotCount))
    /// The time at which the last of them is forgotten, in nanoseconds of the monotonic clock: as long as there are no long
    /// reads, nothing is compared.
    private let lastEnd = Atomic<UInt64>(0)

    /// Knows of no long reads.
    package init() {}

    /// Whether a read like this one was too long a moment ago. It is never so for a call with a body, which may ask for anything.
    ///
    /// - Parameter owner: The call, whose client is known.
    package func hasOne(like owner: some RequestOwner) -> Bool {
        guard lastEnd.load(ordering: .relaxed) > owner.request.arrival.nanoseconds, !owner.request.announcesBody else {
            return false
        }
        let shape = LongReads.shape(owner)
        let note = slots.withLock { $0[LongReads.slot(shape)] }
        return note.map { $0.shape == shape && $0.end > owner.request.arrival } ?? false
    }

    /// Records that a read was too long for a daemon's thread.
    ///
    /// - Parameters:
    ///   - now: The present time.
    package func note(_ owner: some RequestOwner, _ now: Instant) {
        guard !owner.request.announcesBody else { return }
        let note = Note(shape: LongReads.shape(owner), end: now.adding(seconds: LongReads.seconds))
        slots.withLock { $0[LongReads.slot(note.shape)] = note }
        lastEnd.store(note.end.nanoseconds, ordering: .relaxed)
    }

    /// Takes into account the duration of a read that a worker was given at once.
    ///
    /// - Parameters:
    ///   - begin: The time at which the worker began.
    package func note(_ owner: some RequestOwner, begunAt begin: Instant) {
        let now = Instant.now()
        guard now.seconds(since: begin) < LongReads.briefSeconds else { return note(owner, now) }
        let shape = LongReads.shape(owner)
        slots.withLock { slots in
            let slot = LongReads.slot(shape)
            if slots[slot]?.shape == shape { slots[slot] = nil }
        }
    }

    private static func slot(_ shape: Int) -> Int { Int(UInt(bitPattern: shape) % UInt(slotCount)) }

    /// Returns the hash that a call shares with similar ones: of client, method, and target without numbers and quoted texts.
    private static func shape(_ owner: some RequestOwner) -> Int {
        var hasher = Hasher()
        hasher.combine(owner.account)
        hasher.combine(owner.request.method)
        let bytes = owner.request.target.bytes
        var isQuoted = false
        for index in bytes.indices {
            if isQuote(bytes, index) { isQuoted.toggle() }
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): continue
            default: if !isQuoted { hasher.combine(bytes[index]) }
            }
        }
        return hasher.finalize()
    }

    /// Whether a quotation mark begins at a byte of a target, as itself or escaped: `%22` or `%27`.
    private static func isQuote(_ bytes: [UInt8], _ index: Int) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return true
        case UInt8(ascii: "%"):
            guard index + 2 < bytes.count, bytes[index + 1] == UInt8(ascii: "2") else { return false }
            return bytes[index + 2] == UInt8(ascii: "2") || bytes[index + 2] == UInt8(ascii: "7")
        default: return false
        }
    }
}
