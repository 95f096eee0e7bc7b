// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A place in an S3 store, `s3://bucket/prefix`.
package struct S3Location: Sendable, Equatable {
    package let bucket: String
    /// The beginning of the keys without a slash at its end; empty for the whole bucket.
    package let prefix: String

    /// The beginning of such a text.
    package static let scheme = "s3://"
    /// The rule for the text, for messages.
    package static let rule =
        "s3://BUCKET or s3://BUCKET/PREFIX, where BUCKET has 3 to 63 lower-case letters, digits, dots and hyphens"
    /// The greatest length of a prefix in bytes: keys have at most 1024.
    private static let maximumPrefixByteCount = 512

    /// Reads a text; nil when it is none of a bucket, with or without a prefix.
    package init?(_ text: String) {
        guard text.hasPrefix(S3Location.scheme) else { return nil }
        let parts = text.dropFirst(S3Location.scheme.count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bucket = parts.first, S3Location.isBucket(bucket) else { return nil }
        var prefix = parts.count > 1 ? parts[1] : ""
        if prefix.hasSuffix("/") { prefix = prefix.dropLast() }
        let steps = prefix.isEmpty ? [] : prefix.split(separator: "/", omittingEmptySubsequences: false)
        guard steps.allSatisfy({ !["", ".", ".."].contains($0) }), prefix.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }),
            prefix.utf8.count <= S3Location.maximumPrefixByteCount
        else { return nil }
        self.bucket = String(bucket)
        self.prefix = String(prefix)
    }

    private static func isBucket(_ text: Substring) -> Bool {
        let isAlphanumeric = { (byte: UInt8) in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        let bytes = Array(text.utf8)
        guard (3...63).contains(bytes.count), isAlphanumeric(bytes[0]), isAlphanumeric(bytes[bytes.count - 1]) else {
            return false
        }
        return bytes.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    /// Returns a key below the prefix.
    package func key(_ name: String) -> String { prefix.isEmpty ? name : prefix + "/" + name }

    /// Returns the URL of a key, for people.
    package func text(of key: String) -> String { S3Location.scheme + bucket + "/" + key }
}
