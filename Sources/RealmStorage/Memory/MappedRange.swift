// SPDX-License-Identifier: Apache-2.0

internal import CMappings
internal import Synchronization
internal import SystemPackage

/// A range of addresses that shows a file and stays readable when the file gets shorter: zeros take the place of what
/// is gone, and `loss` is set. Without that a read there would end the process.
///
/// `@unchecked Sendable`: `remove` is called once, by the deinitializer of the owner, which unmaps the range.
@safe final class MappedRange: @unchecked Sendable {
    /// The flag that is set when a part of the file is gone. Several ranges may share it.
    let loss: FileLoss
    /// What the handler of lost pages knows the range by.
    private let entry: OpaquePointer

    /// `byteCount` bytes from `start`, whole pages.
    init(start: UnsafeRawPointer, byteCount: Int, loss: FileLoss) throws(StorageError) {
        self.loss = loss
        // An atomic byte is a byte; it stays where it is as long as this object keeps `loss`.
        let flag = unsafe UnsafeMutableRawPointer(loss.flag).assumingMemoryBound(to: UInt8.self)
        guard let entry = unsafe realm_rest_mapping_add(start, byteCount, flag) else {
            throw .io(operation: "sigaction", errno: Errno.noMemory.rawValue)
        }
        unsafe self.entry = unsafe entry
    }

    /// To be called before more of the range shows the file.
    func resize(byteCount: Int) { unsafe realm_rest_mapping_resize(entry, byteCount) }

    /// To be called before the range is unmapped.
    func remove() { unsafe realm_rest_mapping_remove(entry) }
}
