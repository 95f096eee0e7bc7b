// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Decides whether bytes are well-formed UTF-8 (Unicode 15, table 3-7): without overlong forms,
/// surrogates, and code points beyond U+10FFFF.
package enum UTF8Check {
    /// Returns whether all of the bytes together are well-formed UTF-8.
    ///
    /// - Parameter bytes: The bytes of a whole text.
    /// - Complexity: O(n) for n bytes.
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

    /// Returns whether all bytes of a text are well-formed UTF-8.
    package static func isValid(_ text: ByteView) -> Bool { unsafe text.withBuffer { unsafe isValid($0) } }

    /// Returns the length of a sequence of several bytes by its first one; nil for bytes that begin none.
    private static func sequenceLength(_ lead: UInt8) -> Int? {
        switch lead {
        case 0xc2...0xdf: return 2
        case 0xe0...0xef: return 3
        case 0xf0...0xf4: return 4
        default: return nil
        }
    }

    /// Whether a byte may follow the first one of a sequence. Some first bytes allow only a part of
    /// the usual range, which excludes overlong forms and surrogates.
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
