// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Parser {
    /// Parses any number of `SORT`, `DISTINCT` and `LIMIT` clauses.
    ///
    /// - Returns: The descriptors in the order of the text, up to the first token that starts none.
    mutating func parseDescriptors() throws(QueryError) -> [DescriptorSyntax] {
        var descriptors: [DescriptorSyntax] = []
        while true {
            switch token.kind {
            case .sort: descriptors.append(try parseSort())
            case .distinct: descriptors.append(try parseDistinct())
            case .limit: descriptors.append(try parseLimit())
            default: return descriptors
            }
        }
    }

    /// Parses `SORT(path direction, …)`. Every path needs a direction.
    private mutating func parseSort() throws(QueryError) -> DescriptorSyntax {
        try advance()
        try require(.leftParenthesis)
        var keys: [DescriptorSyntax.SortKey] = []
        repeat {
            let path = try parseDescriptorPath()
            guard token.kind == .ascending || token.kind == .descending else { throw unexpected(["ASC or DESC"]) }
            keys.append(DescriptorSyntax.SortKey(path: path, isAscending: token.kind == .ascending))
            try advance()
        } while try take(.comma)
        try require(.rightParenthesis)
        return .sort(keys)
    }

    /// Parses the clause `DISTINCT(path, …)`, which has at least one path.
    private mutating func parseDistinct() throws(QueryError) -> DescriptorSyntax {
        try advance()
        try require(.leftParenthesis)
        var paths: [PathSyntax] = []
        repeat { paths.append(try parseDescriptorPath()) } while try take(.comma)
        try require(.rightParenthesis)
        return .distinct(paths)
    }

    /// Parses a path of a descriptor and counts it.
    ///
    /// - Throws: `QueryError.syntax` when the query has more than `Parser.maximumDescriptorPaths`
    ///   of them.
    private mutating func parseDescriptorPath() throws(QueryError) -> PathSyntax {
        descriptorPaths += 1
        guard descriptorPaths <= Parser.maximumDescriptorPaths else {
            throw syntaxError("SORT and DISTINCT have at most \(Parser.maximumDescriptorPaths) paths", at: token.start)
        }
        return try parsePlainPath()
    }

    /// Parses `LIMIT(n)`. The number has no sign and follows the rules of integer literals; it saturates at 64 bits.
    private mutating func parseLimit() throws(QueryError) -> DescriptorSyntax {
        try advance()
        try require(.leftParenthesis)
        guard token.kind == .natural else { throw unexpected(["a number without sign"]) }
        let limit = Int(clamping: Literal.integer(tokenBytes))
        try advance()
        try require(.rightParenthesis)
        return .limit(limit)
    }
}
