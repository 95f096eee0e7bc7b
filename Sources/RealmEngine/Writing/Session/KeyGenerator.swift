// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// Makes up primary keys.
enum KeyGenerator {
    /// Five random bytes of this process, and a counter that starts anywhere.
    private static let processBytes = UInt64.random(in: 0..<1 << 40)
    private static let counter = Atomic<UInt32>(UInt32.random(in: 0..<1 << 24))

    /// Seconds since 1970 (4 bytes), random bytes of the process (5), a counter (3): ids of one process ascend.
    static func objectID() -> ObjectID {
        let seconds = UInt64(truncatingIfNeeded: WallClock.now().nanoseconds / 1_000_000_000) & 0xffff_ffff
        let count = counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xff_ffff
        return ObjectID(
            first: seconds << 32 | processBytes >> 8, last: UInt32(truncatingIfNeeded: processBytes & 0xff) << 24 | count)
    }

    /// A random UUID (version 4).
    static func uuid() -> UUIDValue {
        let first = UInt64.random(in: .min ... .max) & ~0xf000 | 0x4000
        let last = UInt64.random(in: .min ... .max) & ~(3 << 62) | 2 << 62
        return UUIDValue(first: first, last: last)
    }
}
