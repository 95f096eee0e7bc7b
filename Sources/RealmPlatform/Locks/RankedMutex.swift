// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// A `Mutex` with a rank in the order of locks: the only lock that the sources use besides `Monitor`, which a test ensures.
///
/// Debug builds stop when it is taken out of order, or by a thread that holds it already. In
/// release builds it is a `Mutex` and nothing else.
///
/// It is public, unlike everything else here: `package` declarations are not inlined into other targets, and each use would be a
/// call of a generic function. There is no library product, so no other package sees it.
public struct RankedMutex<Value: ~Copyable>: ~Copyable {
    /// The standard library's lock with the guarded value.
    @usableFromInline let mutex: Mutex<Value>
    #if DEBUG
    /// The rank of the lock in the order of locks.
    @usableFromInline let rank: LockRank
    #endif

    /// Makes a lock over `value`.
    @inlinable
    public init(_ rank: LockRank, _ value: consuming sending Value) {
        mutex = Mutex(value)
        #if DEBUG
        self.rank = rank
        #endif
    }

    /// Runs `body` with the value while the lock is held; its errors are rethrown. `body` must not
    /// take locks of the same or an earlier rank.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        HeldLocks.enter(rank)
        defer { HeldLocks.leave(rank) }
        #endif
        return try mutex.withLock(body)
    }
}

/// Sharing between threads, which is safe as for a `Mutex`.
extension RankedMutex: Sendable where Value: ~Copyable {}
