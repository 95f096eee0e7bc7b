// SPDX-License-Identifier: Apache-2.0

internal import CXlsxWriter
internal import Glibc
internal import RealmStorage

/// The temporary file in which the library collects the rows of a sheet.
///
/// The library closes it when it puts the workbook together, and never if it does not come to that: for a workbook that is given up,
/// and for the sheets behind the one at which it fails. So the file is closed with this object, which must outlive the workbook of the
/// library, if it is open then.
@safe final class SheetFile {
    /// The open file.
    let descriptor: Int32
    /// The file as the library has it.
    private let stream: UnsafeMutablePointer<FILE>
    /// Which file it is. No other has the same identity before the mapping is removed.
    private let identity: System.FileIdentity
    /// A mapping, which is never read. It tells a file that is still open from another one that has got its descriptor.
    private let mapping: UnsafeMutableRawPointer

    /// Takes over the temporary file of a sheet.
    ///
    /// - Parameter stream: The file, which is closed if there is no memory.
    /// - Throws: `Workbook.Failure` when there is no memory.
    init(_ stream: UnsafeMutablePointer<FILE>) throws(Workbook.Failure) {
        let descriptor = unsafe fileno(stream)
        guard let identity = System.identity(descriptor),
            let mapping = unsafe mmap(nil, 1, PROT_NONE, MAP_SHARED, descriptor, 0), unsafe mapping != MAP_FAILED
        else {
            _ = unsafe fclose(stream)
            throw .unwritten
        }
        unsafe self.stream = unsafe stream
        self.descriptor = descriptor
        self.identity = identity
        unsafe self.mapping = mapping
    }

    deinit {
        if System.identity(descriptor) == identity { _ = unsafe fclose(stream) }
        _ = unsafe munmap(mapping, 1)
    }

    /// Returns the length of the file in bytes, without what is still in memory.
    ///
    /// - Throws: `Workbook.Failure` when a row could not be written, which the library ignores.
    func byteCount() throws(Workbook.Failure) -> Int {
        guard unsafe ferror(stream) == 0, let count = try? System.regularFileSize(descriptor) else { throw .unwritten }
        return count
    }

    /// Writes what is still in memory.
    ///
    /// - Throws: `Workbook.Failure` when the disk is full.
    func flush() throws(Workbook.Failure) {
        guard unsafe fflush(stream) == 0, unsafe ferror(stream) == 0 else { throw .unwritten }
    }
}
