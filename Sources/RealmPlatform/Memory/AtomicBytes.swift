// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A growing row of bytes that any thread reads and writes atomically; each begins as 0.
///
/// The bytes never move, so readers are not disturbed when the row grows.
///
/// `@unchecked Sendable`: the fields are set once, and every access to a byte is atomic.
@safe package final class AtomicBytes: @unchecked Sendable {
    private let memory: ReservedMemory
    /// The first byte. Fresh anonymous memory is zero, which is a valid `Atomic<UInt8>`.
    private let first: UnsafeMutablePointer<Atomic<UInt8>>

    /// Reserves room for `capacity` bytes, of which none can be used yet.
    ///
    /// - Throws: `.io` when the system has no such range.
    package init(capacity: Int) throws(StorageError) {
        memory = try ReservedMemory(capacity: capacity)
        unsafe first = memory.address.assumingMemoryBound(to: Atomic<UInt8>.self)
    }

    /// Makes the first `count` bytes usable. One thread at a time may call it.
    ///
    /// - Throws: `.limit` when that is more than the capacity.
    package func grow(to count: Int) throws(StorageError) { try memory.fill(byteCount: count) }

    /// The byte at `index`, which must be usable; it traps outside the capacity. Reading acquires, and writing releases.
    package subscript(index: Int) -> UInt8 {
        @inline(__always) get {
            checkIndex(index)
            return unsafe first[index].load(ordering: .acquiring)
        }
        @inline(__always) set {
            checkIndex(index)
            unsafe first[index].store(newValue, ordering: .releasing)
        }
    }

    /// Checks that the index is within the capacity.
    @inline(__always)
    private func checkIndex(_ index: Int) { precondition(index >= 0 && index < memory.capacity, "no byte \(index)") }
}
