// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A compressed stream that is being written, as the body of a response.
protocol StreamCompressor: AnyObject, Sendable {
    /// Compresses the next bytes.
    ///
    /// - Parameters:
    ///   - source: The next bytes of the content.
    ///   - isEnd: Whether they are the last ones. Some bytes are kept back until then.
    ///   - target: Receives the finished bytes, which may be none.
    /// - Returns: False when the library failed; the stream is unusable then.
    func compress(_ source: OutputBuffer, isEnd: Bool, into target: OutputBuffer) -> Bool
}

extension ContentCoding {
    /// Begins a stream; nil when there is no memory for it.
    func makeCompressor() -> (any StreamCompressor)? {
        switch self {
        case .gzip: return GzipDeflater()
        case .zstd: return ZstdCompressor()
        }
    }

    /// Compresses the whole of a buffer into a new one.
    ///
    /// - Parameter buffer: The bytes to compress; they are not changed.
    /// - Returns: A complete stream; nil when there is no memory.
    package func compress(_ buffer: OutputBuffer) -> OutputBuffer? {
        let target = OutputBuffer(capacity: buffer.count / 4 + 128)
        guard let compressor = makeCompressor(), compressor.compress(buffer, isEnd: true, into: target) else { return nil }
        return target
    }
}
