// SPDX-License-Identifier: Apache-2.0

/// The words and marks of a Swift source, without its comments and without the contents of its texts.
///
/// Code inside `\( )` of a text is kept. This is no parser: it knows as much of Swift as the rules of this folder need.
struct SourceTokens {
    /// One word or one mark.
    struct Token: Equatable {
        /// An identifier or keyword, or a single punctuation character.
        let text: String
        /// Whether it begins with a letter or an underscore.
        let isWord: Bool
        /// Whether a line break lies between this token and the one before.
        let startsLine: Bool
    }

    private(set) var tokens: [Token] = []
    private let bytes: [UInt8]
    private var position = 0
    private var startsLine = true

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        read(untilParenthesis: false)
    }

    private func isNext(_ text: StaticString) -> Bool {
        let wanted = text.utf8CodeUnitCount
        guard position + wanted <= bytes.count else { return false }
        return "\(text)".utf8.elementsEqual(bytes[position..<position + wanted])
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            return true
        default: return byte >= 0x80
        }
    }

    /// Reads to the end, or to the parenthesis that closes an interpolation.
    private mutating func read(untilParenthesis isInterpolation: Bool) {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "/") where isNext("//"):
                skip { $0 == UInt8(ascii: "\n") }
            case UInt8(ascii: "\""):
                readText()
            case UInt8(ascii: "\n"):
                startsLine = true
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                position += 1
            case let byte where SourceTokens.isWordByte(byte):
                readWord()
            case let byte:
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                position += 1
                if isInterpolation, depth < 0 { return }
                append(String(UnicodeScalar(byte)), isWord: false)
            }
        }
    }

    private mutating func append(_ text: String, isWord: Bool) {
        tokens.append(Token(text: text, isWord: isWord, startsLine: startsLine))
        startsLine = false
    }

    private mutating func skip(until isEnd: (UInt8) -> Bool) {
        while position < bytes.count, !isEnd(bytes[position]) { position += 1 }
    }

    private mutating func readWord() {
        let start = position
        skip { !SourceTokens.isWordByte($0) }
        append(String(decoding: bytes[start..<position], as: UTF8.self), isWord: true)
    }

    /// Reads a text of one or of several lines; the code inside it becomes tokens.
    private mutating func readText() {
        let isLong = isNext("\"\"\"")
        position += isLong ? 3 : 1
        append("\"", isWord: false)
        while position < bytes.count {
            if isLong ? isNext("\"\"\"") : bytes[position] == UInt8(ascii: "\"") {
                position += isLong ? 3 : 1
                return
            }
            if isNext("\\(") {
                position += 2
                read(untilParenthesis: true)
            } else {
                position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
    }
}
