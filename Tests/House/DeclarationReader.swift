// SPDX-License-Identifier: Apache-2.0

/// Finds the types and functions that a file declares.
struct DeclarationReader {
    private(set) var declarations: [SourceFile.Declaration] = []
    private(set) var functions: [SourceFile.Function] = []
    /// Names of generic parameters: they may be called like a type of another file.
    private(set) var genericParameters: Set<String> = []
    private let tokens: [SourceTokens.Token]
    private var position = 0
    private var depth = 0
    /// Where the statement began that is read.
    private var statement = 0

    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    init(_ tokens: [SourceTokens.Token]) { self.tokens = tokens }

    private func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    /// Reads all tokens.
    mutating func read() {
        while position < tokens.count {
            let token = tokens[position]
            if token.startsLine { statement = position }
            switch token.text {
            case "{": depth += 1
            case "}": depth -= 1
            case let keyword where DeclarationReader.typeKeywords.contains(keyword): readType(isAlias: keyword == "typealias")
            case "func": readFunction(name: text(position + 1), parameters: position + 2)
            case "init" where text(position + 1) == "(" || text(position + 1) == "<" || text(position + 1) == "?":
                readInitializer()
            default: break
            }
            position += 1
        }
    }

    private mutating func readType(isAlias: Bool) {
        let next = position + 1
        guard next < tokens.count, tokens[next].isWord, tokens[next].text.first?.isUppercase == true, text(position - 1) != "."
        else {
            return
        }
        let modifiers = tokens[statement..<position].map(\.text)
        let isPrivate = modifiers.contains("private") || modifiers.contains("fileprivate")
        // A shorthand belongs to the file that needs it, so it is not asked to have a file of its own.
        declarations.append(
            SourceFile.Declaration(name: tokens[next].text, isTopLevel: depth == 0 && !isAlias, isPrivate: isPrivate))
        _ = readGenericParameters(at: next + 1)
    }

    private mutating func readInitializer() {
        // A call such as `self.init(…)` declares nothing.
        guard position > 0, text(position - 1) != "." else { return }
        readFunction(name: "init", parameters: position + (text(position + 1) == "?" ? 2 : 1))
    }

    /// Notes the names between `<` and `>`, and gives the position of what follows.
    private mutating func readGenericParameters(at start: Int) -> Int {
        guard text(start) == "<" else { return start }
        var depth = 0
        for index in start..<tokens.count {
            if text(index) == "<" || (text(index) == "," && depth == 1) {
                genericParameters.insert(text(index + 1) == "each" ? text(index + 2) : text(index + 1))
            }
            if text(index) == "<" { depth += 1 }
            if text(index) == ">", text(index - 1) != "-" { depth -= 1 }
            if depth == 0 { return index + 1 }
        }
        return tokens.count
    }

    private mutating func readFunction(name: String, parameters: Int) {
        // The name of an operator is several marks long.
        var open = parameters
        while open < tokens.count, !tokens[open].isWord, text(open) != "(", text(open) != "<" { open += 1 }
        open = readGenericParameters(at: open)
        guard text(open) == "(" else { return }
        var depth = 0
        var run = 0
        var longest = 0
        for index in open..<tokens.count {
            let startsParameter = depth == 1 && (index == open + 1 || text(index - 1) == ",")
            if startsParameter, text(index) != ")" {
                run = text(index) == "_" ? run + 1 : 0
                longest = max(longest, run)
            }
            if ["(", "[", "{", "<"].contains(text(index)) { depth += 1 }
            if [")", "]", "}"].contains(text(index)) || (text(index) == ">" && text(index - 1) != "-") { depth -= 1 }
            if depth == 0 { break }
        }
        functions.append(SourceFile.Function(name: name, longestUnlabelledRun: longest))
    }
}
