// SPDX-License-Identifier: Apache-2.0

#if DEBUG
internal import Glibc
#endif

/// Which locks the running thread holds, in debug builds; in release builds nothing of this is there.
public enum HeldLocks {
    /// To be said before a completion, an observer or another closure of a caller is called: it may lock whatever it likes.
    @inlinable
    public static func assertNone() {
        #if DEBUG
        requireNone()
        #endif
    }

    #if DEBUG
    /// One bit for each rank: ranks are taken in rising order, so a set tells all.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "there is no room for what a thread holds")
        return key
    }()

    private static var held: UInt {
        get { UInt(bitPattern: pthread_getspecific(key)) }
        set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }

    @usableFromInline
    static func enter(_ rank: LockRank) {
        let held = held
        precondition(held >> rank.rawValue == 0, "the lock '\(rank)' is taken under \(names(held)): see LockRank for the order")
        self.held = held | 1 << rank.rawValue
    }

    @usableFromInline
    static func leave(_ rank: LockRank) { held &= ~(1 << rank.rawValue) }

    @usableFromInline
    static func requireNone() {
        precondition(held == 0, "a callback, or a wait, under \(names(held)): see LockRank for what to do instead")
    }

    private static func names(_ held: UInt) -> String {
        (0..<UInt8(UInt.bitWidth)).filter { held >> $0 & 1 == 1 }
            .map { "'\(LockRank(rawValue: $0).map { "\($0)" } ?? "?")'" }.joined(separator: ", ")
    }
    #endif
}
