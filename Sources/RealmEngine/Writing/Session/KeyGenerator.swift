// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Generates primary keys for new objects whose body has none.
enum KeyGenerator {
    /// The five random bytes that all object ids of this process contain.
    private static let processBytes = UInt64.random(in: 0..<1 << 40)
    /// The counter that makes the object ids of one second different. It starts at a random number, and
    /// its lowest 24 bits are used.
    private static let counter = Atomic<UInt32>(UInt32.random(in: 0..<1 << 24))

    /// Returns a new object id. Ids of one process ascend, as long as the clock does.
    ///
    /// An id consists of the seconds since 1970 (4 bytes), the random bytes of the process (5 bytes) and
    /// a counter (3 bytes). All threads may call this.
    static func objectID() -> ObjectID {
        let seconds = UInt64(truncatingIfNeeded: WallClock.now().nanoseconds / 1_000_000_000) & 0xffff_ffff
        let count = counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xff_ffff
        return ObjectID(
            first: seconds << 32 | processBytes >> 8, last: UInt32(truncatingIfNeeded: processBytes & 0xff) << 24 | count)
    }

    /// Returns a random UUID (version 4).
    static func uuid() -> UUIDValue {
        let first = UInt64.random(in: .min ... .max) & ~0xf000 | 0x4000
        let last = UInt64.random(in: .min ... .max) & ~(3 << 62) | 2 << 62
        return UUIDValue(first: first, last: last)
    }
}
