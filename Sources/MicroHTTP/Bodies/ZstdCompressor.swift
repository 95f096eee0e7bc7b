// SPDX-License-Identifier: Apache-2.0

internal import CZstd
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A zstd stream that is being written, as the body of a response.
///
/// `@unchecked Sendable`: one thread at a time uses it, as its producer is never called twice at the same time.
@safe final class ZstdCompressor: StreamCompressor, @unchecked Sendable {
    /// The stream of the library.
    private let stream: OpaquePointer

    /// The effort of zstd: its usual one. The export of the sample has 314,030 bytes with it, and 375,227 by gzip.
    private static let level: Int32 = 3
    /// The logarithm of the window: 1 MiB, so that a stream takes little memory and every client can read it.
    private static let windowLog: Int32 = 20

    /// Begins a stream; nil when there is no memory for it.
    init?() {
        guard let made = unsafe ZSTD_createCCtx() else { return nil }
        unsafe stream = made
        _ = unsafe ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, ZstdCompressor.level)
        _ = unsafe ZSTD_CCtx_setParameter(made, ZSTD_c_windowLog, ZstdCompressor.windowLog)
    }

    deinit { unsafe ZSTD_freeCCtx(stream) }

    func compress(_ source: OutputBuffer, isEnd: Bool, into target: OutputBuffer) -> Bool {
        unsafe source.withBytes { bytes in
            var input = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            while true {
                let room = 32 << 10
                var output = unsafe ZSTD_outBuffer(dst: target.reserve(room), size: room, pos: 0)
                let left = unsafe ZSTD_compressStream2(stream, &output, &input, isEnd ? ZSTD_e_end : ZSTD_e_continue)
                unsafe target.advance(output.pos)
                guard ZSTD_isError(left) == 0 else { return false }
                if isEnd ? left == 0 : unsafe input.pos == input.size { return true }
            }
        }
    }
}
