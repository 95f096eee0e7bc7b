// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The memory of write transactions that have ended, for the next ones of any file.
///
/// An arena whose pages were used before is faster than a new one, and files that are not written to
/// at the moment keep none. Any thread may use it.
enum SpareArenas {
    /// The number of arenas that are kept; others return their memory to the system. Each has at most the 4 MiB that
    /// `NodeArena.reset` leaves.
    private static let limit = 8
    /// The arenas, the last used one at the end; the lock is a leaf.
    private static let arenas = RankedMutex<[NodeArena]>(.leaf, [])

    /// Returns an unused empty arena: the one that was given last, or a new one.
    ///
    /// - Throws: `.io` when the system has no addresses for a new one.
    static func take() throws(StorageError) -> NodeArena {
        let known = arenas.withLock { arenas -> NodeArena? in
            // A transaction of a dry run may still be read, and the last one is still on its way out.
            for index in arenas.indices.reversed() where isKnownUniquelyReferenced(&arenas[index]) {
                return arenas.remove(at: index)
            }
            return nil
        }
        if let known { return known }
        return try NodeArena()
    }

    /// Keeps an arena that was reset. Of too many, the one that was given first is released, as soon as no view of it is left.
    static func give(_ arena: NodeArena) {
        let released = arenas.withLock { arenas -> NodeArena? in
            arenas.append(arena)
            return arenas.count > limit ? arenas.removeFirst() : nil
        }
        withExtendedLifetime(released) {}
    }
}
