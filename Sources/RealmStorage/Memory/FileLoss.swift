// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Whether a part of a mapped file was gone when it was read, so that zeros were read instead.
///
/// Set by a signal handler, for all ranges that show one file. It stays set: the file has to be opened again.
///
/// `@unchecked Sendable`: the pointer is set once, and what it points to is atomic.
///
/// The flag is the only thing that the signal handler changes. Readers look at it after they have read, and before they send what
/// was made of the bytes; see "The life of a file that changes underneath" in docs/ARCHITECTURE.md.
@safe package final class FileLoss: @unchecked Sendable {
    /// The flag at a place that the handler knows.
    let flag: UnsafeMutablePointer<Atomic<UInt8>>

    /// A flag that is not set.
    init() {
        unsafe flag = .allocate(capacity: 1)
        unsafe flag.initialize(to: Atomic(0))
    }

    deinit {
        unsafe flag.deinitialize(count: 1)
        unsafe flag.deallocate()
    }

    /// Whether some of the file was gone when it was read. Costs one atomic load.
    @inline(__always) package var isSet: Bool { unsafe flag.pointee.load(ordering: .acquiring) != 0 }
}
