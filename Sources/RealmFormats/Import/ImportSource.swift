// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The bytes of an import, in memory or in a file. Any part of them can be read, as often as needed.
package struct ImportSource: Sendable {
    /// The place of the bytes of the body: memory or a file.
    private enum Place: Sendable {
        /// A body that was small enough to be kept in memory.
        case memory([UInt8])
        /// A body, or a file of a tool on the command line, that is read piece by piece.
        case file(BodyFile)
    }

    /// The place of the bytes. A file of the server has no name, so it is gone with the last value that refers to it.
    private let place: Place
    /// The largest number of bytes of a line, or of a record of CSV.
    let recordLimit: Int

    /// Creates a source from a body in memory.
    ///
    /// - Parameters:
    ///   - bytes: The body.
    ///   - recordLimit: The largest number of bytes of a record.
    package init(_ bytes: [UInt8], recordLimit: Int = .max) {
        place = .memory(bytes)
        self.recordLimit = recordLimit
    }

    /// Creates a source from a body in a file.
    ///
    /// - Parameters:
    ///   - recordLimit: The largest number of bytes of a record.
    package init(_ file: BodyFile, recordLimit: Int = .max) {
        place = .file(file)
        self.recordLimit = recordLimit
    }

    /// The file with the bytes; nil when they are in memory.
    package var file: BodyFile? {
        if case .file(let file) = place { return file }
        return nil
    }

    /// The length of the whole body in bytes.
    package var byteCount: Int {
        switch place {
        case .memory(let bytes): return bytes.count
        case .file(let file): return file.byteCount
        }
    }

    /// Returns a part of the body.
    ///
    /// - Parameters:
    ///   - offset: The position of the first byte.
    ///   - byteCount: The largest number of bytes to return.
    /// - Returns: The bytes; fewer at the end of the body, none beyond it.
    /// - Throws: `internal_error` when the file cannot be read.
    package func read(at offset: Int, byteCount: Int) throws(Problem) -> ArraySlice<UInt8> {
        switch place {
        case .memory(let bytes): return bytes[min(offset, bytes.count)..<min(offset + byteCount, bytes.count)]
        case .file(let file):
            do throws(StorageError) {
                return try file.read(at: offset, byteCount: byteCount)[...]
            } catch {
                throw Problem(.internalError, "the body could not be read again")
            }
        }
    }

    /// Whether the first byte that is no blank is an opening bracket, as that of a JSON array. A byte order mark may come before it.
    package func beginsWithBracket() throws(Problem) -> Bool {
        let bytes = try read(at: 0, byteCount: 4096)
        let text = bytes.starts(with: RecordReader.byteOrderMark) ? bytes.dropFirst(RecordReader.byteOrderMark.count) : bytes
        let first = text.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return first == UInt8(ascii: "[")
    }
}
