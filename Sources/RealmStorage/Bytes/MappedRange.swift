// SPDX-License-Identifier: Apache-2.0

internal import CMappings
internal import Synchronization

/// Whether a part of a mapped file was gone when somebody read it, so that zeros were read instead.
///
/// Set by a signal handler, for all ranges that show one file. It stays set: the file has to be opened again.
///
/// `@unchecked Sendable`: the pointer is set once, and what it points to is atomic.
package final class FileLoss: @unchecked Sendable {
    /// The flag at a place that the handler knows.
    fileprivate let flag: UnsafeMutablePointer<Atomic<UInt8>>

    init() {
        flag = .allocate(capacity: 1)
        flag.initialize(to: Atomic(0))
    }

    deinit {
        flag.deinitialize(count: 1)
        flag.deallocate()
    }

    @inline(__always) package var isSet: Bool { flag.pointee.load(ordering: .acquiring) != 0 }
}

/// A range of addresses that shows a file and stays readable when the file gets shorter: zeros take the place of what
/// is gone, and `loss` is set. Without that a read there would end the process.
///
/// `@unchecked Sendable`: `remove` is called once, by the deinitializer of whoever unmaps the range.
final class MappedRange: @unchecked Sendable {
    let loss: FileLoss
    private let entry: OpaquePointer

    /// `byteCount` bytes from `start`, whole pages.
    init(start: UnsafeRawPointer, byteCount: Int, loss: FileLoss) throws(StorageError) {
        self.loss = loss
        // An atomic byte is a byte; it stays where it is as long as this object keeps `loss`.
        let flag = UnsafeMutableRawPointer(loss.flag).assumingMemoryBound(to: UInt8.self)
        guard let entry = realm_rest_mapping_add(start, byteCount, flag) else {
            throw .io(operation: "sigaction", errno: System.outOfMemory)
        }
        self.entry = entry
    }

    /// To be called before more of the range shows the file.
    func resize(byteCount: Int) { realm_rest_mapping_resize(entry, byteCount) }

    /// To be called before the range is unmapped.
    func remove() { realm_rest_mapping_remove(entry) }
}
