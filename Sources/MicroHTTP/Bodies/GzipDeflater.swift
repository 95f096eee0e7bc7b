// SPDX-License-Identifier: Apache-2.0

internal import CZlib
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A gzip stream that is being written, as the body of a streamed response.
///
/// `@unchecked Sendable`: one thread at a time uses it, as its producer is never called twice at the same time.
@safe final class GzipDeflater: StreamCompressor, @unchecked Sendable {
    private var stream = unsafe z_stream()

    /// Begins a stream; nil when zlib has no memory for it.
    ///
    /// - Parameter level: The effort of zlib from 1 to 9. Level 4 takes about a third of the time
    ///   of the usual 6, for results that are a few per cent longer.
    init?(level: Int32 = 4) {
        let code = unsafe deflateInit2_(
            &stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { return nil }
    }

    deinit { unsafe deflateEnd(&stream) }

    func compress(_ source: OutputBuffer, isEnd: Bool, into target: OutputBuffer) -> Bool {
        unsafe source.withBytes { bytes in
            unsafe stream.next_in = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.avail_in = UInt32(bytes.count)
            while true {
                let room = 32 << 10
                unsafe stream.next_out = unsafe target.reserve(room)
                unsafe stream.avail_out = UInt32(room)
                let code = unsafe CZlib.deflate(&stream, isEnd ? Z_FINISH : Z_NO_FLUSH)
                unsafe target.advance(room - Int(stream.avail_out))
                if code == Z_STREAM_END { return true }
                guard code == Z_OK || code == Z_BUF_ERROR else { return false }
                if unsafe stream.avail_out > 0, !isEnd { return true }
            }
        }
    }
}
