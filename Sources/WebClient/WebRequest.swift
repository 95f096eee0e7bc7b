// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A request to another server, complete but for its signature if it has one.
package struct WebRequest {
    /// The content of the request.
    package enum Body {
        /// Bytes in memory.
        case bytes([UInt8])
        /// A part of an open file, in bytes from its start.
        case file(Int32, Range<Int>)

        /// The length in bytes.
        var byteCount: Int {
            switch self {
            case .bytes(let bytes): return bytes.count
            case .file(_, let range): return range.count
            }
        }

        /// Reads a part of the body.
        ///
        /// - Parameters:
        ///   - offset: The start of the part, in bytes from the start of the body.
        ///   - byteCount: The greatest number of bytes to read.
        /// - Returns: The bytes, fewer than `byteCount` at the end of the body only.
        /// - Throws: `StorageError.io` when the file cannot be read.
        func read(at offset: Int, byteCount: Int) throws(StorageError) -> [UInt8] {
            let count = max(0, min(byteCount, self.byteCount - offset))
            switch self {
            case .bytes(let bytes): return Array(bytes.dropFirst(offset).prefix(count))
            case .file(let descriptor, let range):
                return try System.read(descriptor, at: range.lowerBound + offset, byteCount: count)
            }
        }

        /// Returns the SHA-256 of the body.
        ///
        /// - Throws: `StorageError.io` when the file cannot be read.
        package func digest() throws(StorageError) -> [UInt8] {
            switch self {
            case .bytes(let bytes): return try FileDigest.sha256(bytes)
            case .file(let descriptor, let range): return try FileDigest.sha256(descriptor, range)
            }
        }
    }

    /// The file that gets the body of a response.
    package struct Target {
        /// The descriptor of the file, which is open for writing.
        let descriptor: Int32
        /// The greatest length of the body in bytes.
        let maximumByteCount: Int

        package init(descriptor: Int32, maximumByteCount: Int) {
            self.descriptor = descriptor
            self.maximumByteCount = maximumByteCount
        }
    }

    /// The parameters for signing a request for an S3 store.
    package struct Signature {
        /// The region of the store.
        let region: String
        /// The id of the access key.
        let id: String
        /// The secret of the access key.
        let secret: String

        package init(region: String, id: String, secret: String) {
            self.region = region
            self.id = id
            self.secret = secret
        }
    }

    package let method: String
    /// The URL, percent-encoded, with the parameters of its query in the order of their names if it is signed.
    package let url: String
    /// The parameters for signing; nil for unsigned requests.
    package var signature: Signature?
    /// Additional header fields, each with a value.
    package var fields: [(String, String)] = []
    /// The path of a file with the only authorities whose certificates are trusted; nil for those of the system.
    package var certificateAuthority: String?
    /// The number of seconds in which the whole answer has to come; nil for any.
    package var seconds: Int?
    /// The number of seconds without a single byte after which the request has failed.
    package var silentSeconds = 30
    /// Gets the body of a response of status 200 piece by piece, with its head: false ends the transfer, and nil leaves the piece to
    /// the response; nil for a response as a whole.
    package var stream: ((WebAnswer, [UInt8]) -> Bool?)?
    /// The greatest number of bytes of a response in memory.
    package var maximumAnswerByteCount = 4 << 20
    /// Whether the server is reached directly, also where the environment names a proxy.
    package var isDirect = false
    /// The content of the request.
    package var body = Body.bytes([])
    /// The file that gets the body of a response of status 200; nil for memory.
    package var target: Target?

    package init(method: String, url: String, signature: Signature? = nil) {
        self.method = method
        self.url = url
        self.signature = signature
    }
}
