// SPDX-License-Identifier: Apache-2.0

/// A style sheet without what only its readers need: comments, and blanks and ends of lines that part nothing.
///
/// Texts and everything in parentheses but blanks at ends of lines stay as they are.
enum StyleSheet {
    /// Returns a style sheet that means the same as another one.
    static func stripped(_ text: String) -> String {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        var isParted = false
        while let next = rest.first {
            if rest.starts(with: "/*".utf8) {
                rest = afterComment(rest)
                isParted = true
            } else if " \t\r\n".utf8.contains(next) {
                rest.removeFirst()
                isParted = true
            } else {
                let part = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") ? quoted(rest) : rest.prefix(1)
                if next == UInt8(ascii: "}"), output.last == UInt8(ascii: ";") { output.removeLast() }
                if isParted, needsBlank(after: output.last, before: next) { output.append(UInt8(ascii: " ")) }
                isParted = false
                output += part
                rest = rest.dropFirst(part.count)
            }
        }
        return String(decoding: output, as: UTF8.self) + "\n"
    }

    /// Returns what follows the comment at the beginning.
    private static func afterComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
        return rest.dropFirst(2)
    }

    /// Returns the text in quotes at the beginning.
    private static func quoted(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = text.startIndex + 1
        while end < text.endIndex, text[end] != text.first { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return text[..<min(end + 1, text.endIndex)]
    }

    /// Whether a blank between two parts has a meaning. Before a colon it has: `a :hover` is not `a:hover`.
    private static func needsBlank(after last: UInt8?, before next: UInt8) -> Bool {
        guard let last else { return false }
        return !"{};,:(".utf8.contains(last) && !"{};,)".utf8.contains(next)
    }
}
