// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

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

    /// Returns the time at which the contents of the file changed last, as 16 hexadecimal digits.
    func modifiedText() throws(StorageError) -> [UInt8] {
        let digits = Array(String(UInt64(bitPattern: try System.facts(descriptor).modified), radix: 16).utf8)
        return Array(repeating: UInt8(ascii: "0"), count: 16 - digits.count) + digits
    }

    /// Returns the digest of the whole file as 64 hexadecimal digits.
    ///
    /// - Parameter control: Can cancel the work.
    /// - Throws: `.io` when reading fails, `.stopped` when the work was cancelled.
    func digestText(_ control: WorkControl?) throws(StorageError) -> [UInt8] {
        let byteCount = try System.regularFileSize(descriptor)
        var parts: [UInt8] = []
        for start in stride(from: 0, to: byteCount, by: OpenFile.pieceByteCount) {
            try control?.check()
            parts += try FileDigest.sha256(descriptor, start..<min(start + OpenFile.pieceByteCount, byteCount))
        }
        return Array(FileDigest.hex(try FileDigest.sha256(parts)).utf8)
    }
}
