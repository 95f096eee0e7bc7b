// SPDX-License-Identifier: Apache-2.0

internal import CZlib
package import RealmStorage

/// Unpacks a gzip stream piece by piece; several members after each other are one stream.
@safe final class GzipInflater {
    private var stream = unsafe z_stream()
    private var output = [UInt8](repeating: 0, count: 64 << 10)
    /// Whether the last member is complete.
    private(set) var isComplete = false

    /// A stream that begins; nil when zlib has no memory for it.
    init?() {
        // 31 is the largest window plus the demand for a gzip header.
        guard unsafe inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    }

    deinit { unsafe inflateEnd(&stream) }

    /// Unpacks `input` and hands on what comes out; false when it is no gzip stream.
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
    /// Why the body in a file was not unpacked.
    package enum InflateFailure: Error {
        /// The bytes are no complete gzip stream.
        case malformed
        case tooLarge
        case storage(StorageError)
    }

    /// Whether the bytes look as if they were packed with gzip.
    package func looksPacked() throws(StorageError) -> Bool { try read(at: 0, byteCount: 2) == [0x1f, 0x8b] }

    /// What the bytes expand to, in a new file in the first of `folders` that takes one.
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
