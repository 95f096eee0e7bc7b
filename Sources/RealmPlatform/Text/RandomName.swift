// SPDX-License-Identifier: Apache-2.0

/// Makes unguessable names for leases, transactions and the like, with 128 random bits.
package enum RandomName {
    /// 64 characters that need no escape in a path.
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    /// Returns a new name of 22 characters: letters, digits, `-` and `_`.
    package static func make() -> String {
        var bits = UInt128(UInt64.random(in: .min ... .max)) << 64 | UInt128(UInt64.random(in: .min ... .max))
        var text = ""
        for _ in 0..<22 {
            text.append(alphabet[Int(bits & 63)])
            bits >>= 6
        }
        return text
    }

    /// Whether a text may be such a name.
    package static func isPossible(_ text: some Collection<UInt8>) -> Bool {
        // The last character has two of the 128 bits.
        text.count == 22
            && text.enumerated().allSatisfy { index, byte in
                alphabet.prefix(index == 21 ? 4 : 64).contains { $0.asciiValue == byte }
            }
    }
}
