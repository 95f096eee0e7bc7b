// SPDX-License-Identifier: Apache-2.0

/// Texts in HTML and XML.
package enum Markup {
    /// Returns a text as the content of an element, or as the value of an attribute between quotation marks.
    package static func escaped(_ text: String) -> String { String(decoding: escaped(Array(text.utf8)), as: UTF8.self) }

    /// Returns the bytes of a text with entities in the place of markup.
    package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            default: escaped.append(byte)
            }
        }
        return escaped
    }
}
