// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A flag that states whether a part of a mapped file was missing when it was read, so that zeros were read instead.
///
/// It is set by a signal handler, for all ranges that show one file. It stays set: the file has to
/// be opened again. Readers test it after they have read, and before they send what was made of the
/// bytes; see "The life of a file that changes underneath" in docs/ARCHITECTURE.md.
///
/// `@unchecked Sendable`: the pointer is set once, and what it points to is atomic.
@safe package final class FileLoss: @unchecked Sendable {
    /// The flag, at an address that the handler knows.
    let flag: UnsafeMutablePointer<Atomic<UInt8>>

    /// Makes a flag that is not set.
    package init() {
        unsafe flag = .allocate(capacity: 1)
        unsafe flag.initialize(to: Atomic(0))
    }

    deinit {
        unsafe flag.deinitialize(count: 1)
        unsafe flag.deallocate()
    }

    /// Whether some of the file was missing when it was read. It costs one atomic load.
    @inline(__always) package var isSet: Bool { unsafe flag.pointee.load(ordering: .acquiring) != 0 }
}
