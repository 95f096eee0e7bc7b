// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
package import Synchronization

/// The limits in force, which a reload of the configuration replaces while requests run.
///
/// There is one for a server, which all of its parts share. Reading takes no lock, because every request reads several limits.
///
/// Limits that were replaced stay in memory, because a thread may be reading them: some 700 bytes
/// for each set of limits that differs from all sets before. Only administrators can replace them.
package final class LiveLimits: Sendable {
    /// The address of the limits in force. It is never 0, and the limits that it points to never change.
    @usableFromInline let newest: Atomic<UInt>
    /// The addresses of all limits that were in force, as numbers.
    private let all: RankedMutex<[UInt]>

    /// Makes the limits that hold until they are replaced.
    ///
    /// - Parameter limits: The limits of the server.
    package init(_ limits: Limits) {
        let first = LiveLimits.stored(limits)
        newest = Atomic(first)
        all = RankedMutex(.leaf, [first])
    }

    deinit {
        for address in all.withLock({ $0 }) { unsafe UnsafePointer<Limits>(bitPattern: address)?.deallocate() }
    }

    /// The limits in force.
    @inlinable @inline(__always) package var current: Limits {
        // The store of `replace` comes after the limits were written, and they are freed with this object.
        unsafe UnsafePointer<Limits>(bitPattern: newest.load(ordering: .acquiring)).unsafelyUnwrapped.pointee
    }

    /// Puts other limits in force, for everything that reads them from then on.
    ///
    /// - Parameter limits: The limits of the server.
    package func replace(with limits: Limits) {
        all.withLock { addresses in
            let known = addresses.first { address in
                unsafe UnsafePointer<Limits>(bitPattern: address).map { place in unsafe place.pointee == limits } ?? false
            }
            let address = known ?? LiveLimits.stored(limits)
            if known == nil { addresses.append(address) }
            newest.store(address, ordering: .releasing)
        }
    }

    /// Returns the address of memory that holds the limits.
    private static func stored(_ limits: Limits) -> UInt {
        let place = UnsafeMutablePointer<Limits>.allocate(capacity: 1)
        unsafe place.initialize(to: limits)
        return UInt(bitPattern: place)
    }
}
