// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Parses the text of a query into a tree, without a schema.
///
/// Predicates and arithmetic are parsed with explicit stacks instead of recursion, for two reasons: an opening parenthesis may
/// start either, which only its contents show, and a text of any length must not exhaust the stack of a thread. Chains of `AND`
/// and `OR` become flat nodes; only trees deeper than `maximumDepth` are rejected.
///
/// A parser is a value that reads one text from its beginning to its end. All of its functions
/// throw `QueryError.syntax` when the current token does not fit, and nothing else.
struct Parser {
    /// The greatest nesting depth of predicates, arithmetic and subqueries together, once redundant
    /// parentheses are gone. It also bounds the recursion of every later walk over the tree.
    static let maximumDepth = 1000
    /// The number of subqueries that may contain one another. Subqueries are parsed by recursion.
    static let maximumSubqueryDepth = 32
    /// The greatest number of elements in a path. Paths are walked by recursion; nested collections
    /// end after 100 levels anyway.
    static let maximumPathLength = 128
    /// The greatest number of paths in `SORT` and `DISTINCT` together: every row is kept with a value for each of them.
    static let maximumDescriptorPaths = 100

    /// The lexer that delivers the tokens; it is positioned after the current token.
    var lexer: Lexer
    /// The current token: the first one that is not consumed yet.
    var token: Token
    /// The byte offset after the last token that was consumed, which is where the range of a finished node ends.
    var previousEnd = 0
    /// The number of subqueries that enclose the current token.
    var subqueryDepth = 0
    /// The nesting depth of the predicate that was parsed last, with the subqueries in it.
    var predicateDepth = 0
    /// The number of paths in descriptors so far, to be compared with `maximumDescriptorPaths`.
    var descriptorPaths = 0

    /// Creates a parser and reads the first token.
    ///
    /// - Parameter text: The text of a query, a key path or a shape.
    /// - Throws: `QueryError.syntax` when the text begins with a character that starts no token.
    init(_ text: String) throws(QueryError) {
        lexer = Lexer(text)
        token = try lexer.next()
    }

    /// Parses the whole text as a query.
    ///
    /// - Returns: The predicate and the descriptors after it, in the order of the text.
    /// - Throws: `QueryError.syntax` when something follows the last descriptor, or a part of the
    ///   query is malformed.
    mutating func parseQuery() throws(QueryError) -> (predicate: PredicateSyntax, descriptors: [DescriptorSyntax]) {
        let predicate = try parsePredicate()
        let descriptors = try parseDescriptors()
        guard token.kind == .end else { throw unexpected(["an operator", "SORT, DISTINCT or LIMIT", "end of query"]) }
        return (predicate, descriptors)
    }

    // MARK: - Tokens

    /// Consumes the current token and reads the next one.
    ///
    /// - Throws: `QueryError.syntax` when the lexer finds no token.
    mutating func advance() throws(QueryError) {
        previousEnd = token.end
        token = try lexer.next()
    }

    /// Consumes the current token if it is of a kind.
    ///
    /// - Parameter kind: The kind of token that is optional here.
    /// - Returns: Whether it was consumed.
    mutating func take(_ kind: TokenKind) throws(QueryError) -> Bool {
        guard token.kind == kind else { return false }
        try advance()
        return true
    }

    /// Consumes the current token, which must be of a kind.
    ///
    /// - Parameter kind: The only kind of token that is allowed here.
    /// - Throws: `QueryError.syntax` when the token is of another kind.
    mutating func require(_ kind: TokenKind) throws(QueryError) {
        guard try take(kind) else { throw unexpected(["'\(kind.rawValue)'"]) }
    }

    /// The bytes of the current token, quotes and prefixes included.
    var tokenBytes: ArraySlice<UInt8> { lexer.bytes[token.start..<token.end] }

    /// Makes the syntax error for a token that cannot follow here.
    ///
    /// - Parameter expected: The tokens that could follow instead, in words for people.
    /// - Returns: An error at the position of the current token, which it quotes.
    func unexpected(_ expected: [String]) -> QueryError {
        let found = token.kind == .end ? "the query ends too early" : "unexpected '\(lexer.text(of: token).truncated)'"
        // The probable meaning helps more than a list of tokens that could follow.
        if let advice = SyntaxAdvice(self, expected).text { return syntaxError("\(found); \(advice)", at: token.start) }
        return syntaxError(found, at: token.start, expected)
    }

    /// Makes a syntax error at a place in the text.
    ///
    /// - Parameters:
    ///   - detail: The problem, as a sentence without a full stop.
    ///   - byteOffset: The place, in bytes; the error reports it in Unicode scalars.
    ///   - expected: The tokens that could follow instead; empty when that does not help.
    func syntaxError(_ detail: String, at byteOffset: Int, _ expected: [String] = []) -> QueryError {
        .syntax(position: lexer.scalarOffset(byteOffset), detail: detail, expected: expected)
    }
}
