// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A recursive-descent parser for the expressions of migrations.
///
/// It works on a copy of the text and is used once. Nesting, the number of operators, the number of path
/// steps and the length of the text are bounded, because the text comes from a client.
struct ExpressionParser {
    /// The whole text of the expression, as characters that `position` indexes.
    private let characters: [Character]
    /// The index in `characters` of the next character to read.
    private var position = 0
    /// The present nesting depth of factors; at most 64.
    private var depth = 0
    /// The number of operators read so far. It is bounded because a chain of operators makes a tree that
    /// is as deep as the chain is long.
    private var signs = 0
    /// The maximum number of operators in one expression.
    private static let maximumSigns = 500
    /// The maximum number of steps in one key path.
    private static let maximumSteps = 128

    /// Makes a parser for a text of at most 16,384 characters; `parse` rejects longer ones.
    init(_ text: String) { characters = Array(text) }

    /// Parses the whole text as one expression.
    ///
    /// - Returns: The tree of the expression, with multiplication and division before addition and
    ///   subtraction.
    /// - Throws: `WriteError` with the code `invalidSchema`, naming the position in characters at which
    ///   the text cannot be read.
    mutating func parse() throws(WriteError) -> Expression {
        let expression = try sum()
        skipSpaces()
        guard position == characters.count else { throw error("'\(characters[position])' is not expected") }
        return expression
    }

    /// Makes the error for a problem at the present position.
    private func error(_ detail: String) -> WriteError {
        WriteError(.invalidSchema, "the expression cannot be read at \(position): \(detail)")
    }

    /// Advances to the next character that is not white space.
    private mutating func skipSpaces() {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
    }

    /// Reads the next character if it is one of those given, after skipping white space.
    ///
    /// - Parameter wanted: The characters that are accepted.
    /// - Returns: The character that was read, or nil when another one follows; then only white space was
    ///   skipped.
    private mutating func take(_ wanted: [Character]) -> Character? {
        skipSpaces()
        guard position < characters.count, wanted.contains(characters[position]) else { return nil }
        position += 1
        return characters[position - 1]
    }

    /// Parses products that are added and subtracted from left to right.
    private mutating func sum() throws(WriteError) -> Expression {
        var left = try product()
        while let sign = take(["+", "-"]) {
            try countSign()
            left = .binary(sign == "+" ? .add : .subtract, left, try product())
        }
        return left
    }

    /// Parses factors that are multiplied and divided from left to right.
    private mutating func product() throws(WriteError) -> Expression {
        var left = try factor()
        while let sign = take(["*", "/"]) {
            try countSign()
            left = .binary(sign == "*" ? .multiply : .divide, left, try factor())
        }
        return left
    }

    /// Counts an operator, and throws when there are more than `maximumSigns`.
    private mutating func countSign() throws(WriteError) {
        signs += 1
        guard signs <= ExpressionParser.maximumSigns else { throw error("more than \(ExpressionParser.maximumSigns) signs") }
    }

    /// Parses a literal, a key path, a negated factor, or an expression in parentheses.
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
        guard position < characters.count else { throw error("the expression is incomplete") }
        return characters[position].isNumber ? try number() : try word()
    }

    /// Reads a string literal up to its closing quote. A backslash makes the character after it literal.
    private mutating func text(until quote: Character) throws(WriteError) -> String {
        var text = ""
        while position < characters.count, characters[position] != quote {
            if characters[position] == "\\", position + 1 < characters.count { position += 1 }
            text.append(characters[position])
            position += 1
        }
        guard position < characters.count else { throw error("the string is not terminated") }
        position += 1
        return text
    }

    /// Reads a number: an integer when it has neither a point nor an exponent and 64 bits can hold it, otherwise a double.
    private mutating func number() throws(WriteError) -> Expression {
        let start = position
        while position < characters.count, characters[position].isNumber || characters[position] == "." { position += 1 }
        if position < characters.count, characters[position] == "e" || characters[position] == "E" {
            position += 1
            if position < characters.count, characters[position] == "+" || characters[position] == "-" { position += 1 }
            while position < characters.count, characters[position].isNumber { position += 1 }
        }
        let text = String(characters[start..<position])
        if let whole = Int64(text) { return .value(OwnedValue(.int(whole))) }
        guard let real = Double(text), real.isFinite else { throw error("'\(text)' is not a number") }
        return .value(OwnedValue(.double(real)))
    }

    // MARK: - Key paths

    /// Reads one of the words `true`, `false`, `null`, `NULL` and `nil`, or a key path.
    private mutating func word() throws(WriteError) -> Expression {
        var steps: [ExpressionPath.Step] = []
        repeat {
            steps.append(try step())
            while takeNext("[") { steps.append(try subscripted()) }
            guard steps.count <= ExpressionParser.maximumSteps else {
                throw error("a key path of more than \(ExpressionParser.maximumSteps) steps")
            }
        } while takeNext(".")
        if steps.count == 1, case .name(let name) = steps[0] {
            switch name {
            case "true": return .value(OwnedValue(.bool(true)))
            case "false": return .value(OwnedValue(.bool(false)))
            case "null", "NULL", "nil": return .value(OwnedValue(.null))
            default: break
            }
        }
        return .path(ExpressionPath(steps: steps))
    }

    /// Reads a character without skipping white space, if it is the next one.
    private mutating func takeNext(_ wanted: Character) -> Bool {
        guard position < characters.count, characters[position] == wanted else { return false }
        position += 1
        return true
    }

    /// Reads a name of letters, digits, `_` and `$`.
    private mutating func name() throws(WriteError) -> String {
        var name = ""
        while position < characters.count {
            let character = characters[position]
            guard character.isLetter || character.isNumber || character == "_" || character == "$" else { break }
            name.append(character)
            position += 1
        }
        guard !name.isEmpty else { throw error("a key path is expected") }
        return name
    }

    /// Reads one step of a key path that is not in brackets.
    private mutating func step() throws(WriteError) -> ExpressionPath.Step {
        guard takeNext("@") else { return .name(try name()) }
        let word = "@" + (try name())
        switch word {
        case "@count", "@size": return .count
        case "@keys": return .keys
        case "@values": return .values
        case "@links":
            guard takeNext(".") else { throw error("'@links' is followed by a class and a property") }
            let className = try name()
            guard takeNext(".") else { throw error("'@links' is followed by a class and a property") }
            return .links(className: className, property: try name())
        default:
            guard let fold = ExpressionPath.Step.Fold(rawValue: word) else { throw error("'\(word)' is not known") }
            return .fold(fold, property: takeNext(".") ? try name() : nil)
        }
    }

    /// Reads the index of an element or the key of an entry, after the opening bracket.
    private mutating func subscripted() throws(WriteError) -> ExpressionPath.Step {
        let step: ExpressionPath.Step
        if let quote = take(["'", "\""]) {
            step = .key(try text(until: quote))
        } else {
            let word = try name()
            switch word.uppercasedASCII {
            case "FIRST": step = .index(0)
            case "LAST": step = .last
            case "SIZE": step = .count
            default:
                guard let index = Int(word) else { throw error("'\(word)' is neither an index nor a key in quotes") }
                step = .index(index)
            }
        }
        guard take(["]"]) != nil else { throw error("']' is missing") }
        return step
    }
}
