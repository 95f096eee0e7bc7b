// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648, section 4.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let invalid: UInt8 = 0xff
    /// The six bits of each character.
    private static let sextets: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (sextet, character) in alphabet.enumerated() { table[Int(character)] = UInt8(sextet) }
        return table
    }()

    /// Appends the text of `bytes`, with padding.
    package static func append(_ bytes: ByteView, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if count > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0..<4 {
                let sextet = Int(group >> UInt32(18 - 6 * position) & 63)
                text.append(position <= count ? alphabet[sextet] : UInt8(ascii: "="))
            }
            index += 3
        }
    }

    /// The decoded bytes, or nil when the text is not exactly base64: whole groups of four, padding where it
    /// belongs, no other characters, no stray bits in the last group.
    package static func decode(_ text: ByteView) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.isEmpty ? 0 : text[text.count - 1] != UInt8(ascii: "=") ? 0
            : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0, bitCount: UInt32 = 0
        for index in 0..<(text.count - padding) {
            let sextet = sextets[Int(text[index])]
            guard sextet != invalid else { return nil }
            group = group << 6 | UInt32(sextet)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bitCount))
        }
        return group & (1 << bitCount - 1) == 0 ? bytes : nil
    }
}
