// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Binder {
    /// Returns the condition for a comparison of two operands.
    ///
    /// - Throws: `QueryError.invalid` when the types, the quantifiers or the operator do not fit
    ///   together.
    mutating func condition(_ syntax: PredicateSyntax.Comparison) throws(QueryError) -> any Condition {
        let (left, right) = try operands(syntax.left, syntax.right, syntax.operatorRange)
        // One element or one value inside of another, compared with several values, is one of them or not.
        if left.quantifier == nil, right.quantifier == nil, left.selectsOne != right.selectsOne,
            left.selectsOne ? right.isMultiValued : left.isMultiValued
        {
            if left.selectsOne { left.demandAny() } else { right.demandAny() }
        }
        if syntax.comparison.isEquality { return try equality(left, right, syntax) }
        if syntax.comparison.isRelational {
            return try relation(left, syntax.comparison, right, at: syntax.operatorRange, label: label(syntax))
        }
        return try pattern(left, right, syntax)
    }

    /// The text of the whole comparison, as query plans show it.
    private func label(_ syntax: PredicateSyntax.Comparison) -> String {
        source(syntax.left.range.lowerBound..<syntax.right.range.upperBound)
    }

    /// Returns both sides of a comparison. A constant is converted to the type of the other side.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - right: The right side.
    ///   - range: The bytes of the operator, for the positions of errors.
    /// - Returns: The operands, in the order of the text.
    /// - Throws: `QueryError.invalid` when a side does not fit, and also when both sides are
    ///   constants.
    private mutating func operands(
        _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ range: Range<Int>
    ) throws(QueryError) -> (any Operand, any Operand) {
        if left.isConstant, right.isConstant {
            throw invalid(.structure, "cannot compare two constants", range)
        }
        let leftOperand: any Operand
        let rightOperand: any Operand
        if right.isConstant {
            leftOperand = try operand(left)
            rightOperand = try operand(right, hint: leftOperand.type, reading: leftOperand.readingType)
            try check(leftOperand, rightOperand, range)
        } else {
            paths.mayBeText = right.isBareName
            defer { paths.mayBeText = false }
            rightOperand = try operand(right)
            paths.mayBeText = false
            leftOperand =
                left.isConstant
                ? try operand(left, hint: rightOperand.type, reading: rightOperand.readingType) : try operand(left)
            try check(rightOperand, leftOperand, range)
        }
        return (leftOperand, rightOperand)
    }

    /// Checks what holds for every operator.
    ///
    /// - Parameters:
    ///   - operand: One side of the comparison.
    ///   - constant: The other side; the constant one if there is one.
    ///   - range: The bytes of the operator, for the positions of errors.
    /// - Throws: `QueryError.invalid` for two collections of values, for two known types, and for a
    ///   list of links with null.
    private func check(_ operand: any Operand, _ constant: any Operand, _ range: Range<Int>) throws(QueryError) {
        if operand.isPrimitiveCollection, constant.isPrimitiveCollection {
            throw invalid(
                .structure, "two collections of values cannot be compared ('\(operand.label)' and '\(constant.label)')",
                range)
        }
        if operand.isConstant, constant.isConstant, operand.type == .typeOfValue, constant.type == .typeOfValue {
            throw invalid(.structure, "the types of '\(operand.label)' and '\(constant.label)' are both known", range)
        }
        if let links = operand as? LinkOperand, links.isMultiValued, constant.constantValue?.isNull == true {
            throw invalid(.structure, "cannot compare the list of links '\(operand.label)' with null", range)
        }
    }

    // MARK: - Equality

    /// Returns the condition for `==`, `!=` or `IN`, after it has checked that the types can be equal.
    ///
    /// - Parameters:
    ///   - right: The right operand. For `IN` it has to be a list, a collection or a to-many path.
    ///   - syntax: The comparison as it is written.
    /// - Throws: `QueryError.invalid` when the operands cannot be compared in this way.
    private func equality(_ left: any Operand, _ right: any Operand, _ syntax: PredicateSyntax.Comparison) throws(QueryError)
        -> any Condition
    {
        let range = syntax.operatorRange
        var (left, right) = (left, right)
        if left.type == .link, let constant = right as? ConstantOperand { right = try links(constant, for: left, range) }
        if right.type == .link, let constant = left as? ConstantOperand { left = try links(constant, for: right, range) }
        if left.type != .null, right.type != .null, !left.type.isComparable(with: right.type) {
            throw unsupportedComparison(left, right, range)
        }
        if left.type != right.type, left.type == .typeOfValue || right.type == .typeOfValue {
            throw invalid(.typeMismatch, "@type can only be compared with the name of a type or another @type", range)
        }
        if syntax.comparison == .in, !right.isCollectionForIn {
            throw invalid(
                .structure,
                "the key path following 'IN' must contain a list, '\(right.label)' does not; a list of values is written in braces, as in IN {1, 2}",
                range)
        }
        try requireQuantifier(left, right, syntax)
        if let membership = membership(left, right, syntax) { return membership }
        return try compare(left, right, syntax)
    }

    /// Throws `QueryError.invalid` where a rule compares a whole collection with a list that was passed: that compares element by
    /// element, and the elements of a claim have no order.
    private func requireQuantifier(_ left: any Operand, _ right: any Operand, _ syntax: PredicateSyntax.Comparison)
        throws(QueryError)
    {
        guard demandsFit, case .constant = syntax.right, let list = right as? ConstantOperand, list.isList,
            left.isMultiValued, left.quantifier == nil
        else { return }
        throw invalid(
            .structure,
            "'\(left.label)' has several values, and the order of '\(right.label)' does not count; ANY, ALL or NONE goes before '\(left.label)'",
            syntax.operatorRange)
    }

    /// Returns the condition for a property of the base class that is compared with a list of
    /// constants, any of which may equal it.
    ///
    /// Constants that no value of the property can equal are left out.
    ///
    /// - Returns: Nil for all other comparisons.
    private func membership(_ left: any Operand, _ right: any Operand, _ syntax: PredicateSyntax.Comparison) -> (any Condition)? {
        guard syntax.comparison != .notEqual, let list = right as? ConstantOperand, list.isList, !list.values.isEmpty,
            list.quantifier ?? .any == .any, let property = left as? PropertyOperand, property.isOfBaseClass
        else { return nil }
        let column = property.column
        let usable = list.values.filter { isUsable($0, for: column) }
        guard !usable.isEmpty || column.type == .mixed else { return ConstantCondition(false) }
        return MembershipCondition(
            column, usable, ignoresCase: syntax.ignoresCase, label: label(syntax), cancellation: cancellation)
    }

    /// Returns whether a value of a property can equal a constant that was converted to its type. A decimal may equal
    /// a float, a double and none of the integers that it was not converted to.
    private func isUsable(_ constant: Value, for column: Column) -> Bool {
        if constant.isNull { return column.isNullable }
        if OperandType(of: constant) == OperandType(column.type) || column.type == .mixed { return true }
        switch (column.type, constant) {
        case (.float, .decimal), (.double, .decimal): return true
        default: return false
        }
    }

    /// Returns the condition for an equality whose types fit, chosen by the kinds of the operands.
    ///
    /// - Parameters:
    ///   - syntax: The comparison as it is written.
    /// - Throws: `QueryError.invalid` when `[c]` is used where letter case has no meaning.
    private func compare(_ left: any Operand, _ right: any Operand, _ syntax: PredicateSyntax.Comparison) throws(QueryError)
        -> any Condition
    {
        let isNegated = syntax.comparison == .notEqual
        let label = label(syntax)
        let hasNaN = hasNaN(left, comparedWith: right) || hasNaN(right, comparedWith: left)
        let relation: Comparator = hasNaN ? .ieee(isNegated ? .notEqual : .equal) : .relation(isNegated ? .notEqual : .equal)
        if left.type == .typeOfValue {
            guard !syntax.ignoresCase else { throw noCaseModifier(right, syntax) }
            return ConditionFactory.compare(left, isNegated ? .sharesNoType : .sharesType, right, label: label, cancellation)
        }
        if let links = left as? LinkOperand, right.type == .link, right.isConstant,
            links.chain.steps.count == 1, links.quantifier ?? .any == .any, syntax.comparison != .in
        {
            return ConditionFactory.compare(ownLinks(links), relation, right, quantifier: .any, label: label, cancellation)
        }
        if left is LinkOperand && right.type == .mixed || right is LinkOperand && left.type == .mixed {
            return ConditionFactory.compare(left, isNegated ? .notBothNull : .bothNull, right, label: label, cancellation)
        }
        if let property = left as? PropertyOperand, property.isOfBaseClass, let value = right.constantValue,
            left.type == right.type || left.type == .mixed
        {
            return baseComparison(property, with: value, from: right, in: syntax)
        }
        guard syntax.ignoresCase else { return ConditionFactory.compare(left, relation, right, label: label, cancellation) }
        guard right.type == .string || right.type == .binary || right.type == .mixed else {
            throw noCaseModifier(right, syntax)
        }
        // Numbers have no letters, so `[c]` changes nothing there.
        if hasNaN { return ConditionFactory.compare(left, relation, right, label: label, cancellation) }
        return ConditionFactory.compare(
            left, isNegated ? .notEqualIgnoringCase : .equalIgnoringCase, right, label: label, cancellation)
    }

    /// Returns whether one of some constants is a NaN of the type of the floats or doubles that they are compared with. It equals none of
    /// them in any form of the query; a decimal NaN equals all of them.
    private func hasNaN(_ constant: any Operand, comparedWith operand: any Operand) -> Bool {
        guard let constant = constant as? ConstantOperand else { return false }
        switch operand.readingType {
        case .float, .double: return constant.values.contains(where: \.isBinaryNaN)
        default: return false
        }
    }

    /// Returns the operand for links of the base class itself. In a dictionary null entries count,
    /// too, so its values are compared.
    private func ownLinks(_ links: LinkOperand) -> any Operand {
        guard let step = links.chain.steps.first, step.kind == .dictionary else { return links }
        return DictionaryOperand(
            step.column, of: step.source, chain: LinkChain([]),
            descent: ValueDescent(steps: [.all], snapshot: snapshot, cancellation: cancellation),
            quantifier: links.quantifier, label: links.label)
    }

    /// Returns the condition for a property of the base class and one constant of its type.
    ///
    /// For these the language has rules of its own: floats and doubles follow IEEE 754, so that NaN is unequal to everything.
    ///
    /// - Parameters:
    ///   - value: The constant.
    ///   - right: The operand of the constant, which has its type and its text.
    ///   - syntax: The comparison as it is written.
    private func baseComparison(
        _ property: PropertyOperand, with value: Value, from right: any Operand, in syntax: PredicateSyntax.Comparison
    ) -> any Condition {
        let isNegated = syntax.comparison == .notEqual
        let constant = ConstantOperand(value, type: right.type, label: right.label)
        let comparator: Comparator
        switch property.type {
        case .float where !value.isNull, .double where !value.isNull: comparator = .ieee(isNegated ? .notEqual : .equal)
        case .string, .binary, .mixed:
            comparator =
                syntax.ignoresCase
                ? (isNegated ? .notEqualIgnoringCase : .equalIgnoringCase) : .relation(isNegated ? .notEqual : .equal)
        default: comparator = .relation(isNegated ? .notEqual : .equal)
        }
        return ConditionFactory.compare(property, comparator, constant, label: label(syntax), cancellation)
    }

    /// Makes the error for `[c]` where letter case has no meaning.
    private func noCaseModifier(_ right: any Operand, _ syntax: PredicateSyntax.Comparison) -> QueryError {
        invalid(
            .typeMismatch,
            "'\(syntax.comparison.rawValue)[c]' needs a string or binary on its right side, not \(right.type.rawValue)",
            syntax.operatorRange)
    }

    /// Converts constants that are compared with links to links to the class that these lead to.
    ///
    /// - Parameters:
    ///   - operand: The links that it is compared with.
    ///   - range: The bytes of the operator, for the positions of errors.
    /// - Throws: `QueryError.invalid` for an object of another class, or a constant that is not an
    ///   object.
    private func links(
        _ constant: ConstantOperand, for operand: any Operand, _ range: Range<Int>
    ) throws(QueryError) -> ConstantOperand {
        guard let links = operand as? LinkOperand else { return constant }
        var values: [Value] = []
        for value in constant.values {
            switch value {
            case .null: values.append(.null)
            case .link(let table, let key):
                guard table == .null || table == links.target.key else {
                    throw invalid(
                        .typeMismatch,
                        "'\(operand.label)' links to '\(links.target.className ?? links.target.name)' and cannot be compared with an object of another class",
                        range)
                }
                values.append(.link(links.target.key, key))
            default: throw unsupportedComparison(operand, constant, range)
            }
        }
        if constant.isList {
            return ConstantOperand(list: values, type: .link, quantifier: constant.quantifier, label: constant.label)
        }
        return ConstantOperand(values[0], type: .link, label: constant.label)
    }

    // MARK: - Order

    /// Returns the condition for `<`, `<=`, `>` or `>=`.
    ///
    /// For properties of the base class and a constant of their type, strings order null first, and
    /// floats and doubles follow IEEE 754. Everything else has the general order of values.
    ///
    /// - Parameters:
    ///   - range: The bytes of the operator, for the positions of errors.
    ///   - label: The text that the plan shows.
    /// - Throws: `QueryError.invalid` for links, for `@type`, and for types that cannot be
    ///   compared.
    private func relation(
        _ left: any Operand, _ comparison: QueryOperator, _ right: any Operand, at range: Range<Int>, label: String
    ) throws(QueryError) -> any Condition {
        guard left.type != .link, left.type != .typeOfValue else {
            throw invalid(
                .typeMismatch, "operator '\(comparison.rawValue)' is not supported for '\(left.label)', only == and != are",
                range)
        }
        let hasNull = left.constantValue?.isNull == true || right.constantValue?.isNull == true
        guard hasNull || left.type.isComparable(with: right.type) else { throw unsupportedComparison(left, right, range) }
        let kernel = comparison.relation
        if let property = left as? PropertyOperand, property.isOfBaseClass, let value = right.constantValue,
            left.type == right.type || left.type == .mixed
        {
            let constant = ConstantOperand(value, type: right.type, label: right.label)
            switch left.type {
            case .string: return ConditionFactory.compare(left, .nullFirst(kernel), constant, label: label, cancellation)
            case .float, .double: return ConditionFactory.compare(left, .ieee(kernel), constant, label: label, cancellation)
            default: return ConditionFactory.compare(left, .relation(kernel), constant, label: label, cancellation)
            }
        }
        return ConditionFactory.compare(left, .relation(kernel), right, label: label, cancellation)
    }

    /// Returns the condition for `BETWEEN {low, high}`: one test of a packed column where that is
    /// possible, otherwise two comparisons.
    ///
    /// - Throws: `QueryError.invalid` unless the list has two elements and the left side fits.
    mutating func condition(_ syntax: PredicateSyntax.Between) throws(QueryError) -> any Condition {
        guard syntax.limits.elements.count == 2 else {
            throw invalid(.structure, "'BETWEEN' requires a list with two elements", syntax.operatorRange)
        }
        let operand = try operand(syntax.value)
        if operand.isPrimitiveCollection, operand.quantifier != .all {
            throw invalid(.structure, "only 'ALL' is supported for 'BETWEEN' on collections", syntax.operatorRange)
        }
        if let range = intRange(operand, syntax.limits) {
            let label = "\(operand.label) BETWEEN \(source(syntax.limits.range))"
            return RangeCondition(range.column, range.limits, label: label, cancellation: cancellation)
        }
        var conditions: [any Condition] = []
        for (limit, comparison) in zip(syntax.limits.elements, [QueryOperator.greaterOrEqual, .lessOrEqual]) {
            let (left, right) = try operands(syntax.value, .constant(limit), syntax.operatorRange)
            let label = "\(left.label) \(comparison.rawValue) \(right.label)"
            conditions.append(try relation(left, comparison, right, at: syntax.operatorRange, label: label))
        }
        return AndCondition(ConditionOrder.cheapestFirst(conditions))
    }

    /// The limits of an int property of the base class when both are ints and in order; nil otherwise.
    private func intRange(_ operand: any Operand, _ limits: ExpressionSyntax.List) -> (
        column: Column, limits: ClosedRange<Int64>
    )? {
        guard let property = operand as? PropertyOperand, property.isOfBaseClass, property.type == .int,
            case .integer(let low) = limits.elements[0].kind, case .integer(let high) = limits.elements[1].kind,
            low <= high
        else { return nil }
        return (property.column, low...high)
    }

    // MARK: - String operators

    /// Returns the condition for `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE` or `TEXT`.
    ///
    /// The type of the left side is not checked: a value that is not of the pattern's type does not match.
    ///
    /// - Throws: `QueryError.invalid` when the right side is neither a string nor binary data nor
    ///   mixed.
    private func pattern(_ left: any Operand, _ right: any Operand, _ syntax: PredicateSyntax.Comparison) throws(QueryError)
        -> any Condition
    {
        guard right.type == .string || right.type == .binary || right.type == .mixed else {
            throw invalid(
                .typeMismatch,
                "'\(syntax.comparison.rawValue)' needs a string or binary on its right side, not \(right.type.rawValue)",
                syntax.operatorRange)
        }
        guard let kind = syntax.comparison.textOperator else { return try fullText(left, right, syntax) }
        let text = TextOperator(kind: kind, ignoresCase: syntax.ignoresCase)
        if let property = left as? PropertyOperand, property.isOfBaseClass, right.constantValue?.isNull == true,
            left.type == right.type, kind != .like
        {
            // Every value has null as a part, null included, unless binary data is searched with [c].
            guard kind == .contains, syntax.ignoresCase, left.type == .binary else { return ConstantCondition(true) }
        }
        return ConditionFactory.compare(left, .pattern(text), right, label: label(syntax), cancellation)
    }

    /// Returns the condition for `TEXT`.
    ///
    /// - Throws: `QueryError.invalid` unless the left side is a string property with a full-text
    ///   index and the right side is a string constant that is a search string.
    private func fullText(_ left: any Operand, _ right: any Operand, _ syntax: PredicateSyntax.Comparison) throws(QueryError)
        -> any Condition
    {
        guard let property = left as? PropertyOperand, property.type == .string else {
            throw invalid(.typeMismatch, "'TEXT' needs a string property on its left side", syntax.operatorRange)
        }
        guard property.column.declaredIndex == .fullText, property.column.hasSearchIndex else {
            throw invalid(.structure, "'\(left.label)' has no full text index", syntax.operatorRange)
        }
        guard right is ConstantOperand, right.type == .string, case .string(let text)? = right.constantValue else {
            throw invalid(.typeMismatch, "'TEXT' needs a string constant on its right side", syntax.operatorRange)
        }
        do throws(FullTextSearch.Malformed) {
            return FullTextCondition(
                property.column, chain: property.chain, space: snapshot.space, search: try FullTextSearch(text),
                label: label(syntax))
        } catch {
            throw invalid(.argument, error.text, syntax.right.range)
        }
    }
}

extension QueryOperator {
    /// The operator as kernels take it; `equal` for operators that are not relations.
    var relation: Relation {
        switch self {
        case .less: return .less
        case .lessOrEqual: return .lessOrEqual
        case .greater: return .greater
        case .greaterOrEqual: return .greaterOrEqual
        case .notEqual: return .notEqual
        default: return .equal
        }
    }

    /// The string operator between two texts; nil for all others and for full-text search.
    var textOperator: TextOperator.Kind? {
        switch self {
        case .beginsWith: return .beginsWith
        case .endsWith: return .endsWith
        case .contains: return .contains
        case .like: return .like
        default: return nil
        }
    }
}
