// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A row-rule predicate with placeholders for claims of the principal: `owner == $claims.sub`.
///
/// Claims become arguments before the query is parsed, so their values are never a part of its text.
package struct RuleTemplate: Sendable {
    /// A claim in the place of a value.
    package struct Use: Sendable, Hashable {
        package let path: ClaimPath
        /// Whether the claim follows `IN`, so that it is a list; elsewhere it is a single value.
        package let isList: Bool
    }

    /// The number of different claims that a rule may have.
    static let maximumUseCount = 64

    /// The query as it was written.
    package let text: String
    /// The query with arguments, by their numbers, in the place of `uses`.
    package let query: Query
    /// The use of a claim by each argument.
    package let uses: [Use]

    /// Parses the query of a rule.
    ///
    /// - Parameter text: A predicate without descriptors, in which `$claims.NAME` and `$claims.NAME.NAME` are values.
    /// - Throws: `QueryError.syntax` with the position in the text.
    package static func parse(_ text: String) throws(QueryError) -> RuleTemplate {
        var lexer = ClaimLexer(text)
        try lexer.read()
        let query: Query
        do throws(QueryError) {
            query = try Query.parse(lexer.text)
        } catch {
            throw error.naming(lexer.uses)
        }
        guard !query.hasDescriptors else {
            throw .syntax(position: 0, detail: "a rule has no SORT, DISTINCT or LIMIT", expected: [])
        }
        return RuleTemplate(text: text, query: query, uses: lexer.uses)
    }

    /// Returns an error about the query in the words of the rule: with claims instead of arguments.
    package func explained(_ error: QueryError) -> QueryError { error.naming(uses) }
}

extension QueryError {
    /// Returns the error with the names of claims instead of arguments.
    fileprivate func naming(_ uses: [RuleTemplate.Use]) -> QueryError {
        func named(_ text: String) -> String {
            // From the last one on, as `$1` is a part of `$10`.
            uses.indices.reversed().reduce(text) { $0.replacing("$\($1)", with: uses[$1].path.description) }
        }
        switch self {
        case .syntax(let position, let detail, let expected, let part):
            return .syntax(position: position, detail: named(detail), expected: expected, part: part)
        case .invalid(let kind, let detail, let culprit, let position, let part):
            return .invalid(kind, detail: named(detail), culprit: culprit.map(named), position: position, part: part)
        case .storage, .cancelled: return self
        }
    }
}
