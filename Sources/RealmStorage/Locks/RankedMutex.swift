// SPDX-License-Identifier: Apache-2.0

package import Synchronization

/// A `Mutex` that knows its place in the order of locks: the only one that the sources use, which a test sees to.
///
/// Debug builds stop when it is taken out of order, or by a thread that holds it already. In release builds it is a
/// `Mutex` and nothing else.
package struct RankedMutex<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>
    #if DEBUG
    @usableFromInline let rank: LockRank
    #endif

    @inlinable
    package init(_ rank: LockRank, _ value: consuming sending Value) {
        mutex = Mutex(value)
        #if DEBUG
        self.rank = rank
        #endif
    }

    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        HeldLocks.enter(rank)
        defer { HeldLocks.leave(rank) }
        #endif
        return try mutex.withLock(body)
    }
}

extension RankedMutex: Sendable where Value: ~Copyable {}
