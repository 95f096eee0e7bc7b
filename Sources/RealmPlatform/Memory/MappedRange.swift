// SPDX-License-Identifier: Apache-2.0

internal import CMappings
internal import Synchronization
internal import SystemPackage

/// A range of addresses that shows a file and stays readable when the file gets shorter: zeros take the place of the missing
/// part, and `loss` is set. Without that a read there would end the process.
///
/// `@unchecked Sendable`: `remove` is called once, by the deinitializer of the owner, which unmaps the range.
@safe final class MappedRange: @unchecked Sendable {
    /// The flag that is set when a part of the file is missing. Several ranges may share it.
    let loss: FileLoss
    /// The entry of the range in the table of the handler of missing pages.
    private let entry: OpaquePointer

    /// Registers `byteCount` bytes from `start` on, in whole pages; throws `.io` when the handler cannot be installed.
    init(start: UnsafeRawPointer, byteCount: Int, loss: FileLoss) throws(StorageError) {
        self.loss = loss
        // An atomic byte is a byte; it stays where it is as long as this object keeps `loss`.
        let flag = unsafe UnsafeMutableRawPointer(loss.flag).assumingMemoryBound(to: UInt8.self)
        guard let entry = unsafe realm_rest_mapping_add(start, byteCount, flag) else {
            throw .io(operation: "sigaction", errno: Errno.noMemory.rawValue)
        }
        unsafe self.entry = unsafe entry
    }

    /// Changes the size of the range; to be called before more of it shows the file.
    func resize(byteCount: Int) { unsafe realm_rest_mapping_resize(entry, byteCount) }

    /// Removes the registration; to be called before the range is unmapped.
    func remove() { unsafe realm_rest_mapping_remove(entry) }
}
