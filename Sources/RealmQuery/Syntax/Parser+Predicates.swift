// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Parser {
    /// Parses a predicate up to the first token that cannot continue it.
    ///
    /// It alternates between operands and operators, as operator-precedence parsers do. From loosest to tightest: `OR`, `AND`,
    /// comparisons, `+` and `-`, `*` and `/`, `NOT`. Parentheses need no lookahead: their contents show whether they
    /// enclose a predicate or arithmetic.
    ///
    /// - Returns: The tree of the predicate. `predicateDepth` holds its depth afterwards.
    /// - Throws: `QueryError.syntax` when the text is malformed or nests too deep.
    mutating func parsePredicate() throws(QueryError) -> PredicateSyntax {
        var stack = PredicateStack()
        while true {
            try parseOperand(&stack)
            while try !parseOperator(&stack) {
                guard stack.frames.isEmpty, case (.predicate(let predicate), let depth)? = stack.operands.last else { continue }
                guard !continuesPredicate else { continue }
                predicateDepth = depth
                return predicate
            }
        }
    }

    /// The nesting depth of a value that was just parsed. The predicate of a subquery is a part of the tree.
    private func depth(of value: ExpressionSyntax) -> Int {
        if case .subquery = value { return predicateDepth + 1 }
        return 1
    }

    /// Whether the current token would extend a complete predicate.
    private var continuesPredicate: Bool { token.kind == .and || token.kind == .or }

    /// Consumes everything up to and including the next operand: opening parentheses and `NOT`s,
    /// which are pushed as frames, then a value or a constant predicate.
    private mutating func parseOperand(_ stack: inout PredicateStack) throws(QueryError) {
        while true {
            switch token.kind {
            case .leftParenthesis:
                stack.frames.append(.parenthesis(allowsPredicate: stack.allowsPredicate))
                try advance()
            case .not where stack.allowsPredicate:
                stack.frames.append(.not)
                try advance()
            case .truePredicate where stack.allowsPredicate, .falsePredicate where stack.allowsPredicate:
                stack.operands.append((.predicate(.constant(token.kind == .truePredicate)), 1))
                try advance()
                try collapseNot(&stack)
                return
            default:
                let value = try parseValue()
                try push(&stack, .expression(value, isValue: true), depth(of: value))
                return
            }
        }
    }

    /// Handles the token after an operand.
    ///
    /// - Returns: True when an operand has to follow. False when the operand was completed and the
    ///   current token has to be examined again, or when the predicate is complete.
    private mutating func parseOperator(_ stack: inout PredicateStack) throws(QueryError) -> Bool {
        guard case .expression(_, let isValue)? = stack.operands.last?.operand else {
            return try parseLogicalOperator(&stack)
        }
        if let arithmetic = arithmeticOperator {
            try reduceArithmetic(&stack, atLeast: arithmetic.precedence)
            stack.frames.append(.arithmetic(arithmetic))
            try advance()
            return true
        }
        if let comparison = comparisonOperator, comparison.isEquality || comparison.isRelational {
            try reduceArithmetic(&stack, atLeast: 0)
            guard stack.allowsPredicate else { throw unexpected(["an operand", "AND or OR", "')'"]) }
            try pushComparison(&stack, comparison)
            return true
        }
        if isValue, stack.allowsPredicate, let left = stack.operands.last, let (predicate, depth) = try parseValueOperator(left) {
            stack.operands.removeLast()
            try push(&stack, .predicate(predicate), depth)
            try collapseNot(&stack)
            return false
        }
        try closeExpression(&stack)
        return false
    }

    /// Pushes a comparison operator, with `[c]` if it follows an equality operator.
    private mutating func pushComparison(
        _ stack: inout PredicateStack, _ comparison: QueryOperator
    ) throws(QueryError) {
        let range = token.start..<token.end
        try advance()
        var ignoresCase = false
        if comparison.isEquality { ignoresCase = try take(.caseModifier) }
        stack.frames.append(.comparison(comparison, ignoresCase: ignoresCase, range))
    }

    /// Completes an expression at a token that cannot continue it: either its comparison is
    /// complete, or the parenthesis around it closes.
    ///
    /// - Throws: `QueryError.syntax` when a comparison operator is missing.
    private mutating func closeExpression(_ stack: inout PredicateStack) throws(QueryError) {
        try reduceArithmetic(&stack, atLeast: 0)
        switch stack.frames.last {
        case .comparison(let comparison, let ignoresCase, let range):
            stack.frames.removeLast()
            guard case (.expression(let right, _), let rightDepth)? = stack.operands.popLast(),
                case (.expression(let left, _), let leftDepth)? = stack.operands.popLast()
            else { throw unexpected(["an operand"]) }
            let syntax = PredicateSyntax.Comparison(
                left: left, comparison: comparison, ignoresCase: ignoresCase, right: right, operatorRange: range)
            try push(&stack, .predicate(.comparison(syntax)), max(leftDepth, rightDepth) + 1)
            try collapseNot(&stack)
        case .parenthesis where token.kind == .rightParenthesis:
            guard case (.expression(let inner, _), let depth)? = stack.operands.popLast() else {
                throw unexpected(["an operand"])
            }
            stack.frames.removeLast()
            stack.operands.append((.expression(inner, isValue: false), depth))
            try advance()
        default: throw unexpected(["a comparison operator"])
        }
    }

    /// Handles the token after a complete predicate: `AND`, `OR`, a closing parenthesis, or the end of the predicate.
    ///
    /// - Returns: True when an operand has to follow, otherwise false.
    private mutating func parseLogicalOperator(_ stack: inout PredicateStack) throws(QueryError) -> Bool {
        switch token.kind {
        case .and:
            if case .and(let count)? = stack.frames.last {
                stack.frames[stack.frames.count - 1] = .and(count + 1)
            } else {
                stack.frames.append(.and(1))
            }
            try advance()
            return true
        case .or:
            try reduceAnd(&stack)
            if case .or(let count)? = stack.frames.last {
                stack.frames[stack.frames.count - 1] = .or(count + 1)
            } else {
                stack.frames.append(.or(1))
            }
            try advance()
            return true
        default:
            try reduceAnd(&stack)
            try reduceOr(&stack)
            guard case .parenthesis? = stack.frames.last else { return false }
            guard token.kind == .rightParenthesis else { throw unexpected(["AND or OR", "')'"]) }
            stack.frames.removeLast()
            try advance()
            try collapseNot(&stack)
            return false
        }
    }

    // MARK: - Reductions

    /// Pushes an operand.
    ///
    /// - Parameter depth: The nesting depth of the operand.
    /// - Throws: `QueryError.syntax` when it exceeds `Parser.maximumDepth`.
    private func push(_ stack: inout PredicateStack, _ operand: PredicateStack.Operand, _ depth: Int) throws(QueryError) {
        guard depth <= Parser.maximumDepth else {
            throw syntaxError("the query nests deeper than \(Parser.maximumDepth) levels", at: token.start)
        }
        stack.operands.append((operand, depth))
    }

    /// Combines operands by the arithmetic operators on top of the stack.
    ///
    /// - Parameter precedence: Operators of a lower precedence remain on the stack; 0 combines all
    ///   of them.
    private func reduceArithmetic(_ stack: inout PredicateStack, atLeast precedence: Int) throws(QueryError) {
        while case .arithmetic(let operation)? = stack.frames.last, operation.precedence >= precedence {
            stack.frames.removeLast()
            guard case (.expression(let right, _), let rightDepth)? = stack.operands.popLast(),
                case (.expression(let left, _), let leftDepth)? = stack.operands.popLast()
            else { throw unexpected(["an operand"]) }
            let range = left.range.lowerBound..<max(right.range.upperBound, left.range.lowerBound)
            let node = ExpressionSyntax.operation(operation, left, right, range)
            try push(&stack, .expression(node, isValue: false), max(leftDepth, rightDepth) + 1)
        }
    }

    /// Wraps a complete predicate into the `NOT`s before it; two of them cancel each other out.
    private func collapseNot(_ stack: inout PredicateStack) throws(QueryError) {
        var isNegated = false
        while case .not? = stack.frames.last {
            stack.frames.removeLast()
            isNegated.toggle()
        }
        guard isNegated, case (.predicate(let predicate), let depth)? = stack.operands.popLast() else { return }
        if case .not(let inner) = predicate {
            try push(&stack, .predicate(inner), depth - 1)
        } else {
            try push(&stack, .predicate(.not(predicate)), depth + 1)
        }
    }

    /// Combines the operands of a chain of `AND`s, if one is on top of the stack, into one flat node.
    private func reduceAnd(_ stack: inout PredicateStack) throws(QueryError) {
        guard case .and(let count)? = stack.frames.last else { return }
        stack.frames.removeLast()
        let (children, depth) = popPredicates(&stack, count + 1)
        try push(&stack, .predicate(.and(children)), depth + 1)
    }

    /// Combines the operands of a chain of `OR`s, if one is on top of the stack, into one flat node.
    private func reduceOr(_ stack: inout PredicateStack) throws(QueryError) {
        guard case .or(let count)? = stack.frames.last else { return }
        stack.frames.removeLast()
        let (children, depth) = popPredicates(&stack, count + 1)
        try push(&stack, .predicate(.or(children)), depth + 1)
    }

    /// Removes the last `count` operands, which are predicates, from the stack.
    ///
    /// - Returns: The predicates in the order of the text, and the depth of the deepest.
    private func popPredicates(_ stack: inout PredicateStack, _ count: Int) -> ([PredicateSyntax], Int) {
        var depth = 0
        var children: [PredicateSyntax] = []
        children.reserveCapacity(count)
        for (operand, operandDepth) in stack.operands.suffix(count) {
            depth = max(depth, operandDepth)
            if case .predicate(let predicate) = operand { children.append(predicate) }
        }
        stack.operands.removeLast(count)
        return (children, depth)
    }

    // MARK: - Operators

    /// The arithmetic operator that the current token is; nil when it is another token.
    private var arithmeticOperator: ArithmeticOperator? {
        switch token.kind {
        case .plus: return .plus
        case .minus: return .minus
        case .times: return .times
        case .divided: return .divided
        default: return nil
        }
    }

    /// The comparison operator that the current token is; nil when it is another token.
    private var comparisonOperator: QueryOperator? {
        switch token.kind {
        case .equal: return .equal
        case .notEqual: return .notEqual
        case .in: return .in
        case .less: return .less
        case .lessOrEqual: return .lessOrEqual
        case .greater: return .greater
        case .greaterOrEqual: return .greaterOrEqual
        case .beginsWith: return .beginsWith
        case .endsWith: return .endsWith
        case .contains: return .contains
        case .like: return .like
        case .text: return .text
        default: return nil
        }
    }

    /// Parses an operator that takes plain values only, neither arithmetic nor parentheses, and its
    /// right side: `BETWEEN`, `geoWithin`, `TEXT` and the four string operators.
    ///
    /// - Parameter operand: The left side with its depth.
    /// - Returns: The comparison and its depth; nil when the current token is not such an operator.
    private mutating func parseValueOperator(
        _ operand: (operand: PredicateStack.Operand, depth: Int)
    ) throws(QueryError) -> (PredicateSyntax, depth: Int)? {
        guard case (.expression(let left, _), let leftDepth) = operand else { return nil }
        let range = token.start..<token.end
        if token.kind == .between {
            try advance()
            guard token.kind == .leftBrace || isQuantifier else { throw unexpected(["a list"]) }
            let limits = try parseList()
            return (.between(PredicateSyntax.Between(value: left, limits: limits, operatorRange: range)), leftDepth + 1)
        }
        if token.kind == .geoWithin {
            guard case .property(let property) = left else { throw unexpected(["a comparison operator"]) }
            try advance()
            return (.geoWithin(try parseRegion(of: property)), leftDepth + 1)
        }
        guard let comparison = comparisonOperator else { return nil }
        try advance()
        var ignoresCase = false
        if comparison.isPattern { ignoresCase = try take(.caseModifier) }
        let right = try parseValue()
        let syntax = PredicateSyntax.Comparison(
            left: left, comparison: comparison, ignoresCase: ignoresCase, right: right, operatorRange: range)
        return (.comparison(syntax), max(leftDepth, depth(of: right)) + 1)
    }
}
