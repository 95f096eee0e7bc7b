// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An HMAC-SHA-224, the authentication code of an encrypted page. Two codes are compared in a time
/// that does not depend on their bytes.
///
/// The code is computed over the encrypted bytes, so that a page is never decrypted before it is known to be genuine. Source:
/// docs/format.md, "Encryption".
package struct AuthenticationCode: Sendable {
    /// The size of a code in bytes.
    package static let byteCount = 28
    /// A code of zeros, which is that of a page that was never written.
    package static let zero = AuthenticationCode([UInt8](repeating: 0, count: byteCount))

    /// The 28 bytes of the code.
    package let bytes: [UInt8]

    /// Makes a code from its 28 bytes; any other number traps.
    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == AuthenticationCode.byteCount, "an HMAC-SHA-224 has 28 bytes")
        self.bytes = bytes
    }
}

/// Comparison in a time that does not depend on the bytes, so that it reveals nothing about a code.
extension AuthenticationCode: Equatable {
    /// Returns whether both codes are the same, in a time that does not depend on them.
    package static func == (left: AuthenticationCode, right: AuthenticationCode) -> Bool {
        var difference: UInt8 = 0
        for index in 0..<byteCount { difference |= left.bytes[index] ^ right.bytes[index] }
        return difference == 0
    }
}
