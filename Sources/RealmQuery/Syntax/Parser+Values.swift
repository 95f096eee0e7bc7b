// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Parser {
    /// Whether the current token is `ANY`, `SOME`, `ALL` or `NONE`.
    var isQuantifier: Bool { quantifier != nil }

    /// The quantifier that the current token is; nil when it is another token.
    private var quantifier: Quantifier? {
        switch token.kind {
        case .any: return .any
        case .all: return .all
        case .none: return Quantifier.none
        default: return nil
        }
    }

    /// Parses one value: a constant, a key path, a list, an aggregate or a subquery.
    ///
    /// - Returns: The expression, with the range of text that it covers.
    mutating func parseValue() throws(QueryError) -> ExpressionSyntax {
        let start = token.start
        if let quantifier { return try parseQuantified(quantifier) }
        switch token.kind {
        case .leftBrace: return .list(try parseList())
        case .subquery: return .subquery(try parseSubquery())
        case .binary:
            // `binary` is a literal when a parenthesis follows, else a name.
            let word = lexer.text(of: token)
            try advance()
            if token.kind == .leftParenthesis { return .constant(try parseBinary(from: start)) }
            return try parseProperty(first: .key(word), from: start)
        case .keyPathArgument:
            let argument = argumentNumber(prefix: 2)
            try advance()
            return try parseProperty(argument: argument, from: start)
        default:
            if token.kind.isName {
                let first = try parseName()
                return try parseProperty(first: first, from: start)
            }
            return .constant(try parseConstant())
        }
    }

    /// Parses a quantifier and what may follow it: a key path, a list or an argument. `ANY 5` is a syntax error.
    private mutating func parseQuantified(_ quantifier: Quantifier) throws(QueryError) -> ExpressionSyntax {
        let start = token.start
        try advance()
        switch token.kind {
        case .leftBrace: return .list(try parseBraces(quantifier, from: start))
        case .argument:
            let number = argumentNumber(prefix: 1)
            try advance()
            return .constant(ConstantSyntax(kind: .argument(number, quantifier), range: start..<previousEnd))
        case .keyPathArgument:
            let argument = argumentNumber(prefix: 2)
            try advance()
            return try parseProperty(quantifier, argument: argument, from: start)
        default:
            guard token.kind.isName else { throw unexpected(["a key path", "a list", "an argument"]) }
            let first = try parseName()
            return try parseProperty(quantifier, first: first, from: start)
        }
    }

    /// The number in `$n` or `$Kn`, always decimal. A number beyond 64 bits saturates; it is out of range anyway.
    ///
    /// - Parameter prefix: The number of bytes before the digits, 1 or 2.
    func argumentNumber(prefix: Int) -> Int { Int(clamping: Literal.decimalInteger(tokenBytes.dropFirst(prefix))) }

    // MARK: - Lists

    /// Parses a list literal in braces, with an optional quantifier before it.
    ///
    /// - Throws: `QueryError.syntax` when the current token starts neither.
    mutating func parseList() throws(QueryError) -> ExpressionSyntax.List {
        let start = token.start
        guard let quantifier else { return try parseBraces(nil, from: start) }
        try advance()
        guard token.kind == .leftBrace else { throw unexpected(["a list"]) }
        return try parseBraces(quantifier, from: start)
    }

    /// Parses `{`, any number of constants with commas between them, and `}`.
    ///
    /// - Parameters:
    ///   - quantifier: The quantifier before the brace, which was consumed already.
    ///   - start: The byte offset at which the list starts, its quantifier included.
    private mutating func parseBraces(_ quantifier: Quantifier?, from start: Int) throws(QueryError) -> ExpressionSyntax.List {
        try require(.leftBrace)
        var elements: [ConstantSyntax] = []
        if token.kind != .rightBrace {
            repeat { elements.append(try parseElement()) } while try take(.comma)
        }
        try require(.rightBrace)
        return ExpressionSyntax.List(quantifier: quantifier, elements: elements, range: start..<previousEnd)
    }

    /// Parses an element of a list: a constant, or an argument with a quantifier.
    private mutating func parseElement() throws(QueryError) -> ConstantSyntax {
        guard let quantifier else { return try parseConstant() }
        let start = token.start
        try advance()
        guard token.kind == .argument else { throw unexpected(["an argument"]) }
        let number = argumentNumber(prefix: 1)
        try advance()
        return ConstantSyntax(kind: .argument(number, quantifier), range: start..<previousEnd)
    }

    // MARK: - Constants

    /// Parses a literal or an argument without a quantifier.
    mutating func parseConstant() throws(QueryError) -> ConstantSyntax {
        let start = token.start
        switch token.kind {
        case .object: return try parseObject()
        case .binary:
            try advance()
            return try parseBinary(from: start)
        default: break
        }
        guard let kind = try simpleConstant() else { throw unexpected(["a value"]) }
        try advance()
        return ConstantSyntax(kind: kind, range: start..<previousEnd)
    }

    /// The value of a constant that consists of one token, which is not consumed.
    ///
    /// - Returns: Nil when the token is not a constant.
    /// - Throws: `QueryError.syntax` for malformed base64 or a malformed timestamp.
    private func simpleConstant() throws(QueryError) -> ConstantSyntax.Kind? {
        switch token.kind {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .float: return floatConstant()
        case .infinity:
            return .double(tokenBytes.first == ASCII.minus ? -.infinity : .infinity, text: lexer.text(of: token))
        case .nan: return .double(Double(bitPattern: 0x7ff8_0000_0000_0000), text: lexer.text(of: token))
        case .base64: return .string(try base64Bytes())
        case .timestamp: return try timestampConstant()
        case .link: return .link(ObjectKey(Literal.integer(tokenBytes.dropFirst())))
        case .typedLink:
            let parts = tokenBytes.dropFirst().split(separator: ASCII.colon)
            guard parts.count == 2 else { return nil }
            return .typedLink(
                TableKey(UInt32(truncatingIfNeeded: Literal.integer(parts[0]))), ObjectKey(Literal.integer(parts[1])))
        default: return keyConstant()
        }
    }

    /// The value of a constant that may be a primary key: an integer, a string, a UUID, an object
    /// id or an argument. Nil for every other token.
    private func keyConstant() -> ConstantSyntax.Kind? {
        switch token.kind {
        case .natural, .number: return .integer(Literal.integer(tokenBytes))
        case .string: return .string(Array(tokenBytes.dropFirst().dropLast()))
        case .uuid: return .uuid(Literal.uuid(tokenBytes.dropFirst(5).dropLast()))
        case .objectID: return .objectID(Literal.objectID(tokenBytes.dropFirst(4).dropLast()))
        case .argument: return .argument(argumentNumber(prefix: 1), nil)
        default: return nil
        }
    }

    /// The value of a float token: a float with the suffix `f`, otherwise a double, whose text is kept for exact decimals.
    private func floatConstant() -> ConstantSyntax.Kind {
        let text = lexer.text(of: token)
        if text.hasSuffix("f") { return .float(Float(text.dropLast()) ?? .nan) }
        return .double(Double(text) ?? .nan, text: text)
    }

    /// The value of a timestamp token. A date that the language does not support is reported later, when the query is bound.
    private func timestampConstant() throws(QueryError) -> ConstantSyntax.Kind {
        switch Literal.timestamp(tokenBytes) {
        case .timestamp(let timestamp): return .timestamp(timestamp)
        case .invalid(let detail): return .impossibleTimestamp(detail)
        case .syntaxError(let detail): throw syntaxError(detail, at: token.start)
        }
    }

    /// Returns the decoded bytes of the current token, which is a base64 literal `B64"…"`.
    ///
    /// - Throws: `QueryError.syntax` when the text is malformed.
    private func base64Bytes() throws(QueryError) -> [UInt8] {
        guard let bytes = Base64.decode(Array(tokenBytes.dropFirst(4).dropLast()), .standard, .paddingOptional) else {
            throw syntaxError("malformed base64", at: token.start)
        }
        return bytes
    }

    /// Parses the parentheses after `bin`, which enclose a string or a base64 literal.
    ///
    /// - Parameter start: The byte offset of the word `bin` or `binary`, which was consumed
    ///   already.
    private mutating func parseBinary(from start: Int) throws(QueryError) -> ConstantSyntax {
        try require(.leftParenthesis)
        let bytes: [UInt8]
        switch token.kind {
        case .string: bytes = Array(tokenBytes.dropFirst().dropLast())
        case .base64: bytes = try base64Bytes()
        default: throw unexpected(["a string"])
        }
        try advance()
        try require(.rightParenthesis)
        return ConstantSyntax(kind: .binary(bytes), range: start..<previousEnd)
    }

    /// Parses `obj('Class', key)`: the object of a class with a primary key.
    private mutating func parseObject() throws(QueryError) -> ConstantSyntax {
        let start = token.start
        try advance()
        try require(.leftParenthesis)
        guard token.kind == .string else { throw unexpected(["a class name in quotes"]) }
        let className = Array(tokenBytes.dropFirst().dropLast())
        try advance()
        try require(.comma)
        guard let kind = keyConstant() else { throw unexpected(["a primary key"]) }
        let key = ConstantSyntax(kind: kind, range: token.start..<token.end)
        try advance()
        try require(.rightParenthesis)
        return ConstantSyntax(kind: .object(className: className, primaryKey: key), range: start..<previousEnd)
    }

    // MARK: - Subqueries

    /// Parses `SUBQUERY(path, $variable, predicate).@count`, also with `.@size`.
    ///
    /// - Throws: `QueryError.syntax` when subqueries nest too deep, or when the variable does not
    ///   start with a dollar sign.
    private mutating func parseSubquery() throws(QueryError) -> ExpressionSyntax.Subquery {
        let start = token.start
        subqueryDepth += 1
        defer { subqueryDepth -= 1 }
        guard subqueryDepth <= Parser.maximumSubqueryDepth else {
            throw syntaxError("subqueries nest deeper than \(Parser.maximumSubqueryDepth) levels", at: start)
        }
        try advance()
        try require(.leftParenthesis)
        let path = try parsePlainPath()
        try require(.comma)
        let variableStart = token.start
        guard token.kind.isName, case .key(let variable) = try parseName() else { throw unexpected(["a variable"]) }
        guard variable.utf8.count > 1, variable.utf8.first == ASCII.dollar else {
            throw syntaxError("a subquery variable starts with '$', as in '$x'", at: variableStart)
        }
        try require(.comma)
        let predicate = try parsePredicate()
        try require(.rightParenthesis)
        try require(.dot)
        guard try take(.countOperator) else { throw unexpected(["@count"]) }
        return ExpressionSyntax.Subquery(path: path, variable: variable, predicate: predicate, range: start..<previousEnd)
    }
}
