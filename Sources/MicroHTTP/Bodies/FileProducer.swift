// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Sends the content of a file that is complete, such as a backup. The file disappears with this object if it has no name.
package final class FileProducer: ChunkProducer {
    /// The file, which no longer changes.
    private let file: BodyFile
    /// The number of bytes produced. Calls never overlap, so the order of accesses is that of the calls.
    private let offset = Atomic(0)

    /// Makes the producer of a file's content.
    ///
    /// - Parameter file: A complete file.
    package init(_ file: BodyFile) { self.file = file }

    /// The length of the file.
    package var completeByteCount: Int? { file.byteCount }

    /// Reads the next chunk of the file.
    ///
    /// - Parameter buffer: The buffer that the chunk is appended to.
    /// - Returns: Whether this was the end of the file.
    /// - Throws: `StorageError.io` when reading fails.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        let begin = offset.load(ordering: .acquiring)
        let bytes = try file.read(at: begin, byteCount: Streaming.chunkBytes)
        buffer.append(bytes)
        offset.store(begin + bytes.count, ordering: .releasing)
        return bytes.isEmpty || begin + bytes.count >= file.byteCount
    }
}
