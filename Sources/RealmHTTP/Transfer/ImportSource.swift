// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The bytes of an import, wherever they are: read piece by piece, and parts of them again.
package struct ImportSource: Sendable {
    private enum Place: Sendable {
        case memory([UInt8])
        case file(BodyFile)
    }

    private let place: Place
    /// The longest line, or record of CSV, that is taken.
    let recordLimit: Int

    /// A body in memory, whose records have at most so many bytes.
    package init(_ bytes: [UInt8], recordLimit: Int = .max) {
        place = .memory(bytes)
        self.recordLimit = recordLimit
    }

    /// A body in a file, whose records have at most so many bytes.
    package init(_ file: BodyFile, recordLimit: Int = .max) {
        place = .file(file)
        self.recordLimit = recordLimit
    }

    /// The length of the body.
    var byteCount: Int {
        switch place {
        case .memory(let bytes): return bytes.count
        case .file(let file): return file.byteCount
        }
    }

    /// Up to `byteCount` bytes from `offset`; none at the end.
    func read(at offset: Int, byteCount: Int) throws(Problem) -> ArraySlice<UInt8> {
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
}
