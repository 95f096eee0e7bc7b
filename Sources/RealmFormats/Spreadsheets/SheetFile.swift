// SPDX-License-Identifier: Apache-2.0

internal import CXlsxWriter
internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// A temporary file of a workbook, which the library uses as a stream that this object reads and writes for it.
///
/// So the reading ends as soon as the workbook is no longer wanted, at any point of the library. The library closes the stream
/// when it puts the workbook together, and never if it fails before: for a workbook that is aborted, and for the sheets behind
/// the one at which it fails. Then it is closed with this object, which must outlive the workbook of the library.
@safe final class SheetFile {
    /// The open file.
    let descriptor: Int32
    /// The file as the library has made it; nil once it is closed.
    private var file: UnsafeMutablePointer<FILE>?
    /// The library's stream for it; nil once it is closed.
    private(set) var stream: UnsafeMutablePointer<FILE>?
    /// Returns whether the workbook is still wanted.
    private let continues: () -> Bool
    /// Is called before the library first reads the file.
    private var willRead: (() -> Void)?

    /// Takes over a temporary file.
    ///
    /// - Parameters:
    ///   - file: The file, which is closed if there is no memory. Its buffer is written.
    ///   - continues: Returns whether the workbook is still wanted.
    ///   - willRead: Called before the library first reads the file.
    /// - Throws: `Workbook.Failure` when there is no memory.
    init(
        _ file: UnsafeMutablePointer<FILE>, continues: @escaping () -> Bool, willRead: (() -> Void)? = nil
    ) throws(Workbook.Failure) {
        unsafe self.file = unsafe file
        descriptor = unsafe fileno(file)
        self.continues = continues
        self.willRead = willRead
        unsafe stream = nil
        _ = unsafe fflush(file)
        // The stream is closed before this object is gone, so it need not hold it.
        let cookie = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let made = unsafe realm_open_stream(cookie, "w+", SheetFile.functions) else { throw .unwritten }
        unsafe stream = unsafe made
    }

    deinit {
        if let open = unsafe stream { _ = unsafe fclose(open) }
        closeFile()
    }

    /// Closes the file, which has no name, so that its space is free.
    private func closeFile() {
        unsafe stream = nil
        if let open = unsafe file { _ = unsafe fclose(open) }
        unsafe file = nil
    }

    /// Returns the length of the file in bytes, without the part that is still in memory.
    ///
    /// - Throws: `Workbook.Failure` when a row could not be written, which the library ignores.
    func byteCount() throws(Workbook.Failure) -> Int {
        guard let open = unsafe stream, unsafe ferror(open) == 0, let count = try? System.regularFileSize(descriptor) else {
            throw .unwritten
        }
        return count
    }

    /// Writes the part that is still in memory.
    ///
    /// - Throws: `Workbook.Failure` when the disk is full.
    func flush() throws(Workbook.Failure) {
        guard let open = unsafe stream, unsafe fflush(open) == 0, unsafe ferror(open) == 0 else { throw .unwritten }
    }

    // MARK: - The stream

    /// The callbacks of the stream, with the object in the place of a cookie.
    private static var functions: realm_stream_calls {
        unsafe realm_stream_calls(
            read: { cookie, bytes, count in unsafe SheetFile.of(cookie)?.read(bytes, count) ?? -1 },
            write: { cookie, bytes, count in unsafe SheetFile.of(cookie)?.write(bytes, count) ?? 0 },
            seek: { cookie, offset, origin in unsafe SheetFile.of(cookie)?.seek(offset, origin) ?? -1 },
            close: { cookie in
                unsafe SheetFile.of(cookie)?.closeFile()
                return 0
            })
    }

    /// The object of a cookie.
    private static func of(_ cookie: UnsafeMutableRawPointer?) -> SheetFile? {
        unsafe cookie.map { unsafe Unmanaged<SheetFile>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Reads the next bytes. The file seems to end when the workbook is no longer wanted, which the library does not report then.
    private func read(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        if let first = willRead {
            willRead = nil
            first()
        }
        guard continues() else { return 0 }
        return unsafe Glibc.read(descriptor, bytes, count)
    }

    /// Writes bytes, and returns the number that was written before the disk was full.
    private func write(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Int {
        var written = 0
        while written < count {
            let more = unsafe Glibc.write(descriptor, bytes.map { unsafe $0 + written }, count - written)
            guard more > 0 else { break }
            written += more
        }
        return written
    }

    /// Seeks to another place in the file, and reports it.
    private func seek(_ offset: UnsafeMutablePointer<Int64>?, _ origin: Int32) -> Int32 {
        guard let offset = unsafe offset else { return -1 }
        let place = lseek(descriptor, unsafe Int(offset.pointee), origin)
        guard place >= 0 else { return -1 }
        unsafe offset.pointee = Int64(place)
        return 0
    }
}
