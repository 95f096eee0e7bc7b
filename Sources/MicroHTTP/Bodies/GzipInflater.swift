// SPDX-License-Identifier: Apache-2.0

internal import CZlib
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Decompresses a gzip stream piece by piece; several members that follow each other count as one stream. One thread uses it.
@safe final class GzipInflater {
    private var stream = unsafe z_stream()
    /// Holds decompressed bytes until they are handed on.
    private var output = [UInt8](repeating: 0, count: 64 << 10)
    /// Whether the input so far ends with the end of a member, as a complete stream does.
    private(set) var isComplete = false

    /// Begins a stream; nil when zlib has no memory for it.
    init?() {
        // 31 means the largest window, 15, plus 16, by which zlib requires a gzip header.
        guard unsafe inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    }

    deinit { unsafe inflateEnd(&stream) }

    /// Decompresses the next bytes of the stream.
    ///
    /// - Parameters:
    ///   - input: The next bytes as they were received.
    ///   - take: Called for each piece of output, of at most 64 KiB. The slice is valid during the call only.
    /// - Returns: False when the input is no gzip stream.
    /// - Throws: The errors of `take`, which end the decompression.
    func inflate<Failure: Error>(
        _ input: [UInt8], _ take: (ArraySlice<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        var input = input
        let result = unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe stream.next_in = source.baseAddress
            unsafe stream.avail_in = UInt32(clamping: source.count)
            return Result { () throws(Failure) -> Bool in try inflateAll(take) }
        }
        return try result.get()
    }

    /// Runs zlib until the current input is used up, and starts it again where another member follows.
    private func inflateAll<Failure: Error>(
        _ take: (ArraySlice<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        while true {
            if isComplete {
                guard unsafe stream.avail_in > 0 else { return true }
                guard unsafe inflateReset(&stream) == Z_OK else { return false }
                isComplete = false
            }
            let (code, count) = unsafe output.withUnsafeMutableBufferPointer { target -> (Int32, Int) in
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                let code = unsafe CZlib.inflate(&stream, Z_NO_FLUSH)
                return unsafe (code, target.count - Int(stream.avail_out))
            }
            try take(output[..<count])
            if code == Z_STREAM_END {
                isComplete = true
            } else if code == Z_BUF_ERROR || code == Z_OK, unsafe stream.avail_in == 0, count < output.count {
                return true
            } else if code != Z_OK {
                return false
            }
        }
    }
}

extension BodyFile {
    /// The reason why the content of a file could not be decompressed.
    package enum InflateFailure: Error {
        /// The bytes are no complete gzip stream.
        case malformed
        /// The decompressed form is larger than the limit of the caller.
        case tooLarge
        /// One of the two files could not be read or written.
        case storage(StorageError)
    }

    /// Whether the file begins with the two bytes that every gzip stream begins with.
    ///
    /// - Throws: `StorageError.io` when reading fails.
    package func looksPacked() throws(StorageError) -> Bool { try read(at: 0, byteCount: 2) == [0x1f, 0x8b] }

    /// Decompresses this file into a new temporary file. The calling thread waits for the disk.
    ///
    /// - Parameters:
    ///   - folders: The folders to try for the new file, in order.
    ///   - limit: The largest permitted size of the result, in bytes.
    /// - Returns: The new file, charged to the same client as this one.
    /// - Throws: `InflateFailure`; the new file is removed then.
    package func inflated(inOneOf folders: [String], limit: Int) throws(InflateFailure) -> BodyFile {
        let target: BodyFile
        do throws(StorageError) { target = try makeSibling(inOneOf: folders) } catch { throw .storage(error) }
        guard let inflater = GzipInflater() else { throw .malformed }
        var offset = 0
        while offset < byteCount {
            let piece: [UInt8]
            do throws(StorageError) { piece = try read(at: offset, byteCount: 1 << 20) } catch { throw .storage(error) }
            guard !piece.isEmpty else { break }
            offset += piece.count
            let isSound = try inflater.inflate(piece) { bytes throws(InflateFailure) in
                guard target.byteCount + bytes.count <= limit else { throw .tooLarge }
                do throws(StorageError) { try target.append(Array(bytes)) } catch { throw .storage(error) }
            }
            guard isSound else { throw .malformed }
        }
        guard inflater.isComplete else { throw .malformed }
        return target
    }
}
