// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Parser {
    /// A suffix operator, which ends a path. `count` represents `@count`, `@size` and `[SIZE]`.
    private enum Suffix {
        case count, type
        /// `@min`, `@max`, `@sum` or `@avg`, with the property of the linked objects if one follows.
        case aggregate(AggregateOperator, property: String?)
    }

    /// Parses one name of a path and decodes the escapes in it.
    ///
    /// - Returns: The name as an element. A keyword keeps the letter case in which it is written.
    /// - Throws: `QueryError.syntax` when the current token cannot be a name.
    mutating func parseName() throws(QueryError) -> PathSyntax.Element {
        guard token.kind.isName else { throw unexpected(["a property name"]) }
        let name: String
        switch token.kind {
        case .identifier: name = decodeEscapes(tokenBytes)
        default: name = lexer.text(of: token)
        }
        try advance()
        return .key(name)
    }

    /// The text of an identifier in which `\n`, `\r` and `\t` became control characters and an escaped space became a space.
    private func decodeEscapes(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(ASCII.backslash) else { return String(decoding: bytes, as: UTF8.self) }
        var decoded: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if byte == ASCII.backslash, !isEscaped {
                isEscaped = true
                continue
            }
            switch byte {
            case UInt8(ascii: "n") where isEscaped: decoded.append(0x0a)
            case UInt8(ascii: "r") where isEscaped: decoded.append(0x0d)
            case UInt8(ascii: "t") where isEscaped: decoded.append(0x09)
            default: decoded.append(byte)
            }
            isEscaped = false
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Parses a path without quantifier and suffix, as `SUBQUERY`, `SORT` and `DISTINCT` take one.
    ///
    /// - Returns: The path, which may start with a key path argument `$Kn`.
    /// - Throws: `QueryError.syntax` when a suffix operator such as `@count` follows.
    mutating func parsePlainPath() throws(QueryError) -> PathSyntax {
        let start = token.start
        var argument: Int?
        var builder = PathBuilder()
        if token.kind == .keyPathArgument {
            argument = argumentNumber(prefix: 2)
            try advance()
        } else {
            builder.append(try parseName())
        }
        while try parsePathElement(&builder) {}
        return PathSyntax(argument: argument, elements: builder.finished(), range: start..<previousEnd)
    }

    /// Parses the rest of a key path, with its suffix operator if it has one.
    ///
    /// - Parameters:
    ///   - quantifier: The quantifier before the path. With one, aggregates are not allowed.
    ///   - argument: The number of the key path argument that the path starts with, if it does.
    ///   - first: The first name of the path, which was consumed already; nil after a key path
    ///     argument.
    ///   - start: The byte offset at which the expression starts, its quantifier included.
    /// - Returns: A property, or an aggregate.
    mutating func parseProperty(
        _ quantifier: Quantifier? = nil, argument: Int? = nil, first: PathSyntax.Element? = nil, from start: Int
    ) throws(QueryError) -> ExpressionSyntax {
        var builder = PathBuilder()
        if let first { builder.append(first) }
        var suffix: Suffix?
        while suffix == nil {
            if try parsePathElement(&builder, suffix: &suffix, allowsAggregate: quantifier == nil) { continue }
            break
        }
        let path = PathSyntax(argument: argument, elements: builder.finished(), range: start..<previousEnd)
        let range = start..<previousEnd
        switch suffix {
        case .aggregate(let aggregate, let property):
            return .aggregate(ExpressionSyntax.Aggregate(path: path, aggregate: aggregate, property: property, range: range))
        case .count:
            return .property(ExpressionSyntax.Property(quantifier: quantifier, path: path, postfix: .count, range: range))
        case .type:
            return .property(ExpressionSyntax.Property(quantifier: quantifier, path: path, postfix: .type, range: range))
        case nil:
            return .property(ExpressionSyntax.Property(quantifier: quantifier, path: path, postfix: nil, range: range))
        }
    }

    /// Parses one more element of a path that takes no suffix. Returns false when the path has ended.
    private mutating func parsePathElement(_ builder: inout PathBuilder) throws(QueryError) -> Bool {
        var suffix: Suffix?
        let start = token
        guard try parsePathElement(&builder, suffix: &suffix, allowsAggregate: false) else { return false }
        guard suffix == nil else { throw syntaxError("a suffix operator is not allowed here", at: start.start) }
        return true
    }

    /// Parses one more element of a path, or its suffix.
    ///
    /// - Parameters:
    ///   - builder: Collects the elements.
    ///   - suffix: Is set when a suffix operator was parsed; the path has ended then.
    ///   - allowsAggregate: Whether `@min`, `@max`, `@sum` and `@avg` are allowed.
    /// - Returns: False when the current token does not continue the path.
    /// - Throws: `QueryError.syntax` when the path is malformed or exceeds
    ///   `Parser.maximumPathLength`.
    private mutating func parsePathElement(
        _ builder: inout PathBuilder, suffix: inout Suffix?, allowsAggregate: Bool
    ) throws(QueryError) -> Bool {
        guard builder.elements.count < Parser.maximumPathLength else {
            throw syntaxError("a path has at most \(Parser.maximumPathLength) elements", at: token.start)
        }
        if try take(.dot) {
            if token.kind.isName {
                builder.append(try parseName())
            } else {
                suffix = try parseSuffix(allowsAggregate: allowsAggregate)
            }
            return true
        }
        guard token.kind == .leftBracket else { return false }
        let start = token.start
        try advance()
        if try take(.size) {
            suffix = .count
        } else {
            guard !builder.requiresName else { throw syntaxError("a class name must follow @links", at: start) }
            builder.append(try parseIndex())
        }
        try require(.rightBracket)
        return true
    }

    /// Parses the suffix operator after a dot. An aggregate takes one more name at most.
    private mutating func parseSuffix(allowsAggregate: Bool) throws(QueryError) -> Suffix {
        let aggregate: AggregateOperator
        switch token.kind {
        case .countOperator:
            try advance()
            return .count
        case .typeOperator:
            try advance()
            return .type
        case .minimumOperator where allowsAggregate: aggregate = .min
        case .maximumOperator where allowsAggregate: aggregate = .max
        case .sumOperator where allowsAggregate: aggregate = .sum
        case .averageOperator where allowsAggregate: aggregate = .average
        default: throw unexpected(["a property name"])
        }
        try advance()
        guard try take(.dot) else { return .aggregate(aggregate, property: nil) }
        guard case .key(let property) = try parseName() else { throw unexpected(["a property name"]) }
        return .aggregate(aggregate, property: property)
    }

    /// Parses the content of brackets: a decimal index, `FIRST`, `LAST`, `*`, a key in quotes, or an argument.
    private mutating func parseIndex() throws(QueryError) -> PathSyntax.Element {
        let element: PathSyntax.Element
        switch token.kind {
        case .natural: element = .index(Int(clamping: Literal.integer(tokenBytes)))
        case .first: element = .index(0)
        case .last: element = .last
        case .times: element = .all
        case .string: element = .key(lexer.text(token.start + 1, token.end - 1))
        case .argument: element = .argument(argumentNumber(prefix: 1))
        default: throw unexpected(["an index", "a key"])
        }
        try advance()
        return element
    }
}
