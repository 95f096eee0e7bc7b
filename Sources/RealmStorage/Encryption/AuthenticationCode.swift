// SPDX-License-Identifier: Apache-2.0

/// An HMAC-SHA-224. Two of them are compared in a time that does not depend on their bytes.
///
/// The code is calculated over the encrypted bytes, so that a page is never decrypted before it is known to be genuine.
/// Source: docs/format.md, "Encryption".
package struct AuthenticationCode: Sendable {
    /// The size of a code in bytes.
    package static let byteCount = 28
    /// A code of zeros, which means a page that was never written.
    package static let zero = AuthenticationCode([UInt8](repeating: 0, count: byteCount))

    /// The bytes of the code.
    package let bytes: [UInt8]

    /// A code from its 28 bytes.
    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == AuthenticationCode.byteCount, "an HMAC-SHA-224 has 28 bytes")
        self.bytes = bytes
    }
}

/// Compared in a time that does not depend on the bytes, so that it reveals nothing about a code.
extension AuthenticationCode: Equatable {
    /// Whether both codes are the same. Takes the same time whatever they are.
    package static func == (left: AuthenticationCode, right: AuthenticationCode) -> Bool {
        var difference: UInt8 = 0
        for index in 0..<byteCount { difference |= left.bytes[index] ^ right.bytes[index] }
        return difference == 0
    }
}
