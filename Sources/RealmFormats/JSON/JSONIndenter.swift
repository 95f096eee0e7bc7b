// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Puts JSON on several lines, with the depth of each value as its indent, piece by piece.
///
/// The pieces may end anywhere, also inside of a string. Values stay as they are; white space between them is replaced.
package struct JSONIndenter: Sendable {
    /// The number of open objects and arrays.
    private var depth = 0
    /// Whether the next byte is a part of a string.
    private var isInString = false
    /// Whether the byte before was a backslash that escapes the next one.
    private var isEscaped = false
    /// Whether nothing has followed the bracket that opened the innermost object or array.
    private var isFresh = false

    package init() {}

    /// Appends the indented form of a piece.
    ///
    /// - Parameters:
    ///   - piece: The next bytes of the document.
    ///   - buffer: Receives the result.
    package mutating func append(_ piece: [UInt8], to buffer: OutputBuffer) {
        for byte in piece { append(byte, to: buffer) }
    }

    /// Appends the end of the document: a newline, so that a prompt does not stick to it.
    package func end(in buffer: OutputBuffer) { buffer.append(UInt8(ascii: "\n")) }

    private mutating func append(_ byte: UInt8, to buffer: OutputBuffer) {
        guard !isInString else { return appendInString(byte, to: buffer) }
        switch byte {
        case 0x20, 0x09, 0x0a, 0x0d: break
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if !isFresh { breakLine(in: buffer) }
            isFresh = false
            buffer.append(byte)
        case UInt8(ascii: ","):
            buffer.append(byte)
            breakLine(in: buffer)
        case UInt8(ascii: ":"):
            buffer.append(byte)
            buffer.append(UInt8(ascii: " "))
        default:
            if isFresh { breakLine(in: buffer) }
            isFresh = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
            if isFresh { depth += 1 }
            isInString = byte == UInt8(ascii: "\"")
            buffer.append(byte)
        }
    }

    private mutating func appendInString(_ byte: UInt8, to buffer: OutputBuffer) {
        buffer.append(byte)
        if isEscaped {
            isEscaped = false
        } else {
            isEscaped = byte == UInt8(ascii: "\\")
            isInString = byte != UInt8(ascii: "\"")
        }
    }

    /// Begins a line with the indent of the present depth.
    private func breakLine(in buffer: OutputBuffer) {
        buffer.append(UInt8(ascii: "\n"))
        for _ in 0..<max(0, depth) { buffer.append("  " as StaticString) }
    }
}
