// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// A gzip stream under construction.
///
/// `@unchecked Sendable`: used by one thread at a time, as a producer is.
@safe final class GzipDeflater: @unchecked Sendable {
    private var stream = unsafe z_stream()

    /// Level 4 costs about a third of the usual 6 and gives away a few per cent.
    init?(level: Int32 = 4) {
        let code = unsafe deflateInit2_(
            &stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { return nil }
    }

    deinit { unsafe deflateEnd(&stream) }

    /// Packs `source` and appends what comes out; everything comes out when `isEnd`.
    func deflate(_ source: OutputBuffer, isEnd: Bool, into target: OutputBuffer) -> Bool {
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
