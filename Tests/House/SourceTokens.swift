// SPDX-License-Identifier: Apache-2.0

/// The words and marks of a Swift source, and apart from them its comments and the contents of its texts.
///
/// Code inside `\( )` of a text is among the words. This is no parser: it knows as much of Swift as the rules of this folder need.
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

    /// A comment of one or several lines, or a text up to its end or to code inside it.
    struct Prose {
        /// The number of its first line.
        let line: Int
        let isComment: Bool
        fileprivate(set) var bytes: ArraySlice<UInt8>
    }

    private(set) var tokens: [Token] = []
    private(set) var prose: [Prose] = []
    private let bytes: [UInt8]
    private var position = 0
    private var startsLine = true
    /// A place that was counted, and the number of its line.
    private var counted = (position: 0, line: 1)

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
                let start = position
                skip { $0 == UInt8(ascii: "\n") }
                appendComment(start..<position)
            case UInt8(ascii: "\""):
                readText(marks: 0)
            case UInt8(ascii: "#") where rawMarks > 0:
                let marks = rawMarks
                position += marks
                readText(marks: marks)
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

    /// The number of `#` before a quote at the present place; 0 when no raw text begins here.
    private var rawMarks: Int {
        let end = bytes[position...].firstIndex { $0 != UInt8(ascii: "#") } ?? bytes.count
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - position : 0
    }

    /// Adds a comment, to the one before it where only blanks lie between them.
    private mutating func appendComment(_ range: Range<Int>) {
        if let last = prose.last, last.isComment,
            bytes[last.bytes.endIndex..<range.lowerBound].allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
        {
            prose[prose.count - 1].bytes = bytes[last.bytes.startIndex..<range.upperBound]
        } else {
            append(prose: range, isComment: true)
        }
    }

    private mutating func append(prose range: Range<Int>, isComment: Bool) {
        if range.isEmpty { return }
        counted.line += bytes[counted.position..<range.lowerBound].count { $0 == UInt8(ascii: "\n") }
        counted.position = range.lowerBound
        prose.append(Prose(line: counted.line, isComment: isComment, bytes: bytes[range]))
    }

    private mutating func skip(until isEnd: (UInt8) -> Bool) {
        while position < bytes.count, !isEnd(bytes[position]) { position += 1 }
    }

    private mutating func readWord() {
        let start = position
        skip { !SourceTokens.isWordByte($0) }
        append(String(decoding: bytes[start..<position], as: UTF8.self), isWord: true)
    }

    /// Reads a text of one or of several lines, with `marks` signs `#` around it; the code inside it becomes tokens.
    private mutating func readText(marks: Int) {
        let quotes = isNext("\"\"\"") ? 3 : 1
        position += quotes
        append("\"", isWord: false)
        let signs = Array(repeating: UInt8(ascii: "#"), count: marks)
        let end = Array(repeating: UInt8(ascii: "\""), count: quotes) + signs
        let escape = [UInt8(ascii: "\\")] + signs
        var start = position
        while position < bytes.count {
            let rest = bytes[position...]
            if rest.first == UInt8(ascii: "\""), rest.starts(with: end) {
                append(prose: start..<position, isComment: false)
                position += end.count
                return
            }
            if rest.first == UInt8(ascii: "\\"), rest.starts(with: escape) {
                position += escape.count
                if position < bytes.count, bytes[position] == UInt8(ascii: "(") {
                    append(prose: start..<position - escape.count, isComment: false)
                    position += 1
                    read(untilParenthesis: true)
                    start = position
                    continue
                }
            }
            position += 1
        }
    }
}
