// SPDX-License-Identifier: Apache-2.0

/// Keeps secrets out of messages that quote what should have been the name of a file.
package enum SecretText {
    /// The length from which on a text without a slash may be a secret, in bytes.
    private static let leastByteCount = 40
    /// The length of the key of an encrypted file, in bytes.
    private static let keyByteCount = 64

    /// Returns the path for a message, or words in its place when it looks like a key.
    ///
    /// - Parameter path: The text that was given as a path. Only its last component is judged, as a folder may have been put in
    ///   front of it.
    package static func shown(_ path: String) -> String {
        // A path of base64 has slashes, so all of it is judged as well.
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8[path.utf8.index(after: $0)...] } ?? path.utf8[...]
        return isSecret(path.utf8[...]) || isSecret(last) ? "(a key in the place of the name of a file)" : path
    }

    /// Returns whether a text looks like an encryption key, an API key, a token, or another long secret.
    private static func isSecret(_ text: Substring.UTF8View) -> Bool {
        if text.starts(with: "rr_".utf8) || text.starts(with: "Bearer ".utf8) || text.starts(with: "eyJ".utf8) { return true }
        guard text.count >= leastByteCount else { return false }
        let bytes = Array(text)
        if bytes.allSatisfy({ isHex($0) }) || Base64.decode(bytes)?.count == keyByteCount { return true }
        // Names of files have an extension, folders or words; secrets have letters and digits throughout.
        let isDense = bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x3d: return true
            default: return false
            }
        }
        return isDense && bytes.contains { (0x30...0x39).contains($0) }
    }

    /// Whether a byte is a hexadecimal digit.
    private static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: return true
        default: return false
        }
    }
}
