// SPDX-License-Identifier: Apache-2.0

/// The locks that the running thread holds, in debug builds; in release builds this does nothing.
///
/// Calls to this type are in all paths that take locks or call back, so the checks cover every test
/// run of a debug build; a release build pays nothing for them.
public enum HeldLocks {
    /// Checks that the running thread holds no lock. It is called before a completion, an observer
    /// or another closure of a caller, which may take any lock.
    @inlinable
    public static func assertNone() {
        #if DEBUG
        requireNone()
        #endif
    }

    #if DEBUG
    /// The ranks that are held, one bit each: ranks are taken in rising order, so a set is enough.
    private static let held = ThreadWord()

    /// Records that the running thread takes a lock; stops the process when a lock of the same or a later rank is held.
    @usableFromInline
    static func enter(_ rank: LockRank) {
        let held = self.held.value
        precondition(held >> rank.rawValue == 0, "the lock '\(rank)' is taken under \(names(held)): see LockRank for the order")
        self.held.value = held | 1 << rank.rawValue
    }

    /// Records that the running thread has released a lock.
    @usableFromInline
    static func leave(_ rank: LockRank) { held.value &= ~(1 << rank.rawValue) }

    /// Stops the process when the running thread holds any lock.
    @usableFromInline
    static func requireNone() {
        precondition(held.value == 0, "a callback, or a wait, under \(names(held.value)): see LockRank for what to do instead")
    }

    /// Returns the names of the ranks in a set of held locks, for messages.
    private static func names(_ held: UInt) -> String {
        (0..<UInt8(UInt.bitWidth)).filter { held >> $0 & 1 == 1 }
            .map { "'\(LockRank(rawValue: $0).map { "\($0)" } ?? "?")'" }.joined(separator: ", ")
    }
    #endif
}
