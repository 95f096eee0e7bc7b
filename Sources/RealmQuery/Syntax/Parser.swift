// SPDX-License-Identifier: Apache-2.0

/// Parses the text of a query.
///
/// Predicates and arithmetic are parsed with explicit stacks instead of recursion: an opening parenthesis may start
/// either, which only its contents tell, and a text of any length must not exhaust the stack of a thread. Chains of
/// `AND` and `OR` become flat nodes; only trees deeper than `maximumDepth` are refused.
struct Parser {
    /// How deep predicates, arithmetic and subqueries may nest once redundant parentheses are gone.
    static let maximumDepth = 1000
    static let maximumSubqueryDepth = 32
    /// Paths are walked by recursion; nested collections end after 100 levels anyway.
    static let maximumPathLength = 128
    /// Paths in `SORT` and `DISTINCT` together: every row is kept with a value for each.
    static let maximumDescriptorPaths = 100

    var lexer: Lexer
    /// The token to look at next.
    var token: Token
    /// The byte after the last token that was taken.
    var previousEnd = 0
    var subqueryDepth = 0
    /// How deep the predicate nests that was parsed last, with its subqueries.
    var predicateDepth = 0
    /// Paths of descriptors so far.
    var descriptorPaths = 0

    init(_ text: String) throws(QueryError) {
        lexer = Lexer(text)
        token = try lexer.next()
    }

    /// The whole query.
    mutating func parseQuery() throws(QueryError) -> (predicate: PredicateSyntax, descriptors: [DescriptorSyntax]) {
        let predicate = try parsePredicate()
        let descriptors = try parseDescriptors()
        guard token.kind == .end else { throw unexpected(["an operator", "SORT, DISTINCT or LIMIT", "end of query"]) }
        return (predicate, descriptors)
    }

    // MARK: - Tokens

    mutating func advance() throws(QueryError) {
        previousEnd = token.end
        token = try lexer.next()
    }

    /// Takes the token if it is of that kind.
    mutating func take(_ kind: TokenKind) throws(QueryError) -> Bool {
        guard token.kind == kind else { return false }
        try advance()
        return true
    }

    mutating func require(_ kind: TokenKind) throws(QueryError) {
        guard try take(kind) else { throw unexpected(["'\(kind.rawValue)'"]) }
    }

    /// The bytes of the current token.
    var tokenBytes: ArraySlice<UInt8> { lexer.bytes[token.start..<token.end] }

    func unexpected(_ expected: [String]) -> QueryError {
        let found = token.kind == .end ? "the query ends too early" : "unexpected '\(lexer.text(of: token))'"
        return syntaxError(found, at: token.start, expected)
    }

    func syntaxError(_ detail: String, at byteOffset: Int, _ expected: [String] = []) -> QueryError {
        .syntax(position: lexer.scalarOffset(byteOffset), detail: detail, expected: expected)
    }
}
