// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Finds the claims in the query of a rule, and puts arguments in their places.
///
/// It goes by tokens, so what looks like a claim inside of a string literal is left alone. An argument is shorter than the
/// claim; spaces make up the difference, so positions in errors are those of the text that was written.
struct ClaimLexer {
    /// The tokens of the text as it was written.
    private var lexer: Lexer
    /// The text with arguments instead of claims.
    private var output: [UInt8]
    /// The uses of claims by the arguments, in order.
    private(set) var uses: [RuleTemplate.Use] = []
    /// The kind of the token before the current one, `[c]` not counted.
    private var previous: TokenKind?

    /// Prepares to read a text.
    init(_ text: String) {
        lexer = Lexer(text)
        output = lexer.bytes
    }

    /// The text with arguments instead of the claims that were read so far.
    var text: String { String(decoding: output, as: UTF8.self) }

    /// Reads the whole text.
    ///
    /// - Throws: `QueryError.syntax` for what is no token, for an argument, and for a claim in a wrong place.
    mutating func read() throws(QueryError) {
        while true {
            let token = try lexer.next()
            switch token.kind {
            case .end: return
            case .argument, .keyPathArgument:
                throw failure("a rule has no arguments such as \(lexer.text(of: token)), but claims such as $claims.sub", token)
            case .identifier: try replace(token)
            default: break
            }
            if token.kind != .caseModifier { previous = token.kind }
        }
    }

    /// Puts an argument in the place of the claim that begins with a token, if one does.
    private mutating func replace(_ token: Token) throws(QueryError) {
        let word = lexer.bytes[token.start..<token.end]
        guard word.elementsEqual(ClaimPath.word.utf8) else {
            guard lexer.text(of: token).lowercasedASCII == ClaimPath.word else { return }
            throw failure("claims are named in small letters, as in $claims.sub", token)
        }
        guard let (path, end) = ClaimPath.read(in: lexer.bytes, from: token.end), !continues(at: end) else {
            throw failure("expected the name of a claim of ASCII letters, digits, '_' and '-', as in $claims.sub", token)
        }
        let number = try number(of: RuleTemplate.Use(path: path, isList: try takesList(token)), token)
        var argument = Array("$\(number)".utf8)
        argument += Array(repeating: UInt8(ascii: " "), count: end - token.start - argument.count)
        output.replaceSubrange(token.start..<end, with: argument)
        lexer.skip(to: end)
    }

    /// Whether a name continues with characters that no name of a claim has.
    private func continues(at offset: Int) -> Bool {
        guard offset < lexer.bytes.count else { return false }
        let byte = lexer.bytes[offset]
        return byte >= 0x80 || byte == ASCII.dollar || byte == ASCII.backslash
    }

    /// Returns whether a claim stands where a list is needed.
    ///
    /// - Throws: `QueryError.syntax` where a claim would be a pattern, whose wildcards the owner of the claim could choose, and
    ///   after a quantifier, which takes lists where no `IN` is.
    private func takesList(_ token: Token) throws(QueryError) -> Bool {
        switch previous {
        case .in: return true
        case .like, .text: throw failure("a claim cannot be a pattern", token)
        case .any, .all, .some(TokenKind.none): throw failure("a claim has no quantifier: a list is used with IN", token)
        default: return false
        }
    }

    /// Returns the number of the argument for a use of a claim.
    private mutating func number(of use: RuleTemplate.Use, _ token: Token) throws(QueryError) -> Int {
        if let known = uses.firstIndex(of: use) { return known }
        guard uses.count < RuleTemplate.maximumUseCount else {
            throw failure("a rule has at most \(RuleTemplate.maximumUseCount) claims", token)
        }
        uses.append(use)
        return uses.count - 1
    }

    /// Makes the error about a token.
    private func failure(_ detail: String, _ token: Token) -> QueryError {
        .syntax(position: lexer.scalarOffset(token.start), detail: detail, expected: [])
    }
}
