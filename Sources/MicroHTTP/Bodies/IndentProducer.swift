// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A producer that puts the JSON which another producer makes on several lines, for clients that ask for `pretty`.
///
/// `@unchecked Sendable`: calls of a producer never overlap.
package final class IndentProducer: ChunkProducer, @unchecked Sendable {
    private let source: any ChunkProducer
    private var indenter = JSONIndenter()

    /// Indents the output of another producer, which must not be used otherwise.
    package init(_ source: any ChunkProducer) { self.source = source }

    /// Appends the indented form of the next chunk.
    ///
    /// - Parameter buffer: Receives the bytes.
    /// - Returns: Whether this was the end of the body.
    /// - Throws: The error of the source.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        let plain = OutputBuffer(capacity: Streaming.chunkBytes + (8 << 10))
        let isEnd = try source.produce(into: plain)
        indenter.append(plain.array, to: buffer)
        if isEnd { indenter.end(in: buffer) }
        return isEnd
    }
}
