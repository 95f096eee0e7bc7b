// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads expressions; nesting is bounded.
struct ExpressionParser {
    /// The whole text.
    private let characters: [Character]
    /// The next character to read.
    private var position = 0
    /// How deep factors are nested at the moment.
    private var depth = 0
    /// Signs so far: a chain of them is a tree as deep as it is long.
    private var signs = 0
    /// Operators that an expression may have.
    private static let maximumSigns = 500
    /// Names that a key path may have.
    private static let maximumSteps = 128

    /// Reads `text` once.
    init(_ text: String) { characters = Array(text) }

    /// The whole text as an expression; throws where it cannot go on.
    mutating func parse() throws(WriteError) -> Expression {
        let expression = try sum()
        skipSpaces()
        guard position == characters.count else { throw error("'\(characters[position])' is not expected") }
        return expression
    }

    /// A mistake at the present position.
    private func error(_ detail: String) -> WriteError {
        WriteError(.invalidSchema, "the expression cannot be read at \(position): \(detail)")
    }

    /// Goes on to the next character that is no space.
    private mutating func skipSpaces() {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
    }

    /// Reads one of the wanted characters, if it comes next.
    private mutating func take(_ wanted: [Character]) -> Character? {
        skipSpaces()
        guard position < characters.count, wanted.contains(characters[position]) else { return nil }
        position += 1
        return characters[position - 1]
    }

    /// Products, added and subtracted from left to right.
    private mutating func sum() throws(WriteError) -> Expression {
        var left = try product()
        while let sign = take(["+", "-"]) {
            try countSign()
            left = .binary(sign == "+" ? .add : .subtract, left, try product())
        }
        return left
    }

    /// Factors, multiplied and divided from left to right.
    private mutating func product() throws(WriteError) -> Expression {
        var left = try factor()
        while let sign = take(["*", "/"]) {
            try countSign()
            left = .binary(sign == "*" ? .multiply : .divide, left, try factor())
        }
        return left
    }

    /// Counts an operator; throws when there are too many.
    private mutating func countSign() throws(WriteError) {
        signs += 1
        guard signs <= ExpressionParser.maximumSigns else { throw error("more than \(ExpressionParser.maximumSigns) signs") }
    }

    /// A literal, a key path, a negated factor, or an expression in parentheses.
    private mutating func factor() throws(WriteError) -> Expression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= 64, characters.count <= 16384 else { throw error("the expression is too large") }
        if take(["-"]) != nil { return .negated(try factor()) }
        if take(["("]) != nil {
            let inner = try sum()
            guard take([")"]) != nil else { throw error("')' is missing") }
            return inner
        }
        if let quote = take(["'", "\""]) { return .value(.string(try text(until: quote))) }
        guard position < characters.count else { throw error("something is missing at the end") }
        return characters[position].isNumber ? try number() : try word()
    }

    /// The text up to the closing quote, with escapes resolved.
    private mutating func text(until quote: Character) throws(WriteError) -> String {
        var text = ""
        while position < characters.count, characters[position] != quote {
            if characters[position] == "\\", position + 1 < characters.count { position += 1 }
            text.append(characters[position])
            position += 1
        }
        guard position < characters.count else { throw error("the text has no end") }
        position += 1
        return text
    }

    /// A number: an int without a point that 64 bits hold, else a double.
    private mutating func number() throws(WriteError) -> Expression {
        let start = position
        while position < characters.count, characters[position].isNumber || characters[position] == "." { position += 1 }
        let text = String(characters[start..<position])
        if let whole = Int64(text) { return .value(OwnedValue(.int(whole))) }
        guard let real = Double(text) else { throw error("'\(text)' is no number") }
        return .value(OwnedValue(.double(real)))
    }

    /// A literal word, or a key path of names with dots between them.
    private mutating func word() throws(WriteError) -> Expression {
        var names = [""]
        while position < characters.count {
            let character = characters[position]
            if character == "." {
                names.append("")
            } else if character.isLetter || character.isNumber || character == "_" || character == "$" {
                names[names.count - 1].append(character)
            } else {
                break
            }
            position += 1
        }
        guard !names.contains("") else { throw error("a key path is expected") }
        guard names.count <= ExpressionParser.maximumSteps else {
            throw error("a key path of more than \(ExpressionParser.maximumSteps) steps")
        }
        switch names {
        case ["true"]: return .value(OwnedValue(.bool(true)))
        case ["false"]: return .value(OwnedValue(.bool(false)))
        case ["null"], ["NULL"], ["nil"]: return .value(OwnedValue(.null))
        default: return .path(names)
        }
    }
}
