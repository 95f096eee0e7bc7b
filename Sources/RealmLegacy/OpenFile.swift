// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An open file, which can be opened again although it may have lost its name.
final class OpenFile: Sendable {
    /// The descriptor, which is closed with this object.
    private let descriptor: Int32

    /// How many bytes are read between two looks at the control.
    private static let pieceByteCount = 64 << 20

    /// Takes over a descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { System.close(descriptor) }

    /// The path at which this process can open the file while this object exists.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// Returns a digest of the whole file and a text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - control: Can cancel the work.
    /// - Returns: The digest, of 32 bytes.
    /// - Throws: `.io` when reading fails, `.stopped` when the work was cancelled.
    func digest(with text: [UInt8], _ control: WorkControl?) throws(StorageError) -> [UInt8] {
        let byteCount = try System.regularFileSize(descriptor)
        var parts = text
        for start in stride(from: 0, to: byteCount, by: OpenFile.pieceByteCount) {
            try control?.check()
            parts += try FileDigest.sha256(descriptor, start..<min(start + OpenFile.pieceByteCount, byteCount))
        }
        return try FileDigest.sha256(parts)
    }
}
