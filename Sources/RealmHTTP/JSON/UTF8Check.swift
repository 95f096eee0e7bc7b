// SPDX-License-Identifier: Apache-2.0

/// Well-formedness of UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing beyond U+10FFFF.
enum UTF8Check {
    /// Whether the bytes are valid UTF-8, looked at eight at a time while they are ASCII.
    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let lead = unsafe bytes[index]
            if lead < 0x80 {
                index += 1
                continue
            }
            guard let length = sequenceLength(lead), index + length <= bytes.count,
                unsafe isSecondByteValid(bytes[index + 1], after: lead)
            else { return false }
            for offset in 2..<max(length, 2) where unsafe bytes[index + offset] & 0xc0 != 0x80 { return false }
            index += length
        }
        return true
    }

    private static func sequenceLength(_ lead: UInt8) -> Int? {
        switch lead {
        case 0xc2...0xdf: return 2
        case 0xe0...0xef: return 3
        case 0xf0...0xf4: return 4
        default: return nil
        }
    }

    private static func isSecondByteValid(_ byte: UInt8, after lead: UInt8) -> Bool {
        switch lead {
        case 0xe0: return (0xa0...0xbf).contains(byte)
        case 0xed: return (0x80...0x9f).contains(byte)
        case 0xf0: return (0x90...0xbf).contains(byte)
        case 0xf4: return (0x80...0x8f).contains(byte)
        default: return byte & 0xc0 == 0x80
        }
    }
}
