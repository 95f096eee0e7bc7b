// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension ExpressionSyntax {
    /// Whether the expression consists of constants alone, so that a comparison converts it to the type of the other side.
    var isConstant: Bool {
        switch self {
        case .constant, .list: return true
        case .property, .aggregate, .subquery: return false
        case .operation(_, let left, let right, _): return left.isConstant && right.isConstant
        }
    }

    /// Whether a list literal is part of the expression.
    var isList: Bool {
        switch self {
        case .list: return true
        case .constant, .property, .aggregate, .subquery: return false
        case .operation(_, let left, let right, _): return left.isList || right.isList
        }
    }
}

extension Binder {
    /// Returns the operand for an expression.
    ///
    /// - Parameters:
    ///   - expression: One side of a comparison, or a part of it.
    ///   - hint: The type of the other side, to which constants are converted.
    ///   - reading: The type by which arguments are read; nil for that of `hint`.
    /// - Throws: `QueryError.invalid` when the expression does not fit the schema or the arguments.
    mutating func operand(
        _ expression: ExpressionSyntax, hint: OperandType = .int, reading: OperandType? = nil
    ) throws(QueryError) -> any Operand {
        switch expression {
        case .constant(let constant): return try operand(constant, hint: hint, reading: reading ?? hint)
        case .list(let list): return try operand(list, hint: hint, reading: reading ?? hint)
        case .property(let property): return try operand(property)
        case .aggregate(let aggregate): return try operand(aggregate)
        case .subquery(let subquery): return try operand(subquery)
        case .operation(let operation, let left, let right, let range):
            return try arithmetic(operation, left, right, hint: hint, reading: reading ?? hint, range)
        }
    }

    // MARK: - Key paths

    /// Returns the elements of a path, in which arguments are replaced by their values.
    ///
    /// A key path argument replaces the whole path and is split at its dots.
    ///
    /// - Parameter path: The path as it is written.
    /// - Throws: `QueryError.invalid` when a key path argument is not a string, is too long or is
    ///   combined with names, or when an index argument is neither an int nor a string.
    func elements(of path: PathSyntax) throws(QueryError) -> [PathSyntax.Element] {
        if let number = path.argument {
            guard path.elements.isEmpty else {
                throw invalid(.argument, "a key path argument cannot be combined with other names", path.range)
            }
            let text: String
            switch try argument(number, path.range) {
            case .string(let path), .text(let path): text = path
            default: throw invalid(.argument, "a key path argument must be a string", path.range)
            }
            let elements = PathBuilder.elements(ofPath: text)
            guard elements.count <= Parser.maximumPathLength else {
                throw invalid(.argument, "a path has at most \(Parser.maximumPathLength) elements", path.range)
            }
            return elements
        }
        var elements: [PathSyntax.Element] = []
        for element in path.elements {
            guard case .argument(let number) = element else {
                elements.append(element)
                continue
            }
            elements.append(try indexElement(number, path.range))
        }
        return elements
    }

    /// The element that an argument in brackets represents: an index, `LAST` for -1, or a key.
    private func indexElement(_ number: Int, _ range: Range<Int>) throws(QueryError) -> PathSyntax.Element {
        switch try argument(number, range) {
        case .int(-1): return .last
        // A negative index lies outside every list.
        case .int(let index): return .index(index < 0 ? .max : Int(index))
        case .string(let key), .text(let key): return .key(key)
        default: throw invalid(.argument, "an index must be an int or a string", range)
        }
    }

    /// Resolves a path of the query, starting from the class that is tested.
    ///
    /// - Throws: `QueryError.invalid` with the path as the culprit.
    func resolve(_ path: PathSyntax) throws(QueryError) -> PathResolver.ResolvedPath {
        var resolver = paths
        resolver.text = source(path.range)
        resolver.position = position(path.range)
        return try resolver.resolve(try elements(of: path), from: table)
    }

    /// Returns the operand for a key path with its quantifier and its suffix.
    ///
    /// - Throws: `QueryError.invalid` when a name does not exist, or the property does not support
    ///   the quantifier, the steps or the suffix.
    private mutating func operand(_ property: ExpressionSyntax.Property) throws(QueryError) -> any Operand {
        if let element { return try elementOperand(property, element) }
        let label = source(property.range)
        switch try resolve(property.path) {
        case .allBacklinks(let links, let target):
            guard property.postfix != .type else { throw unsupported("@type", property) }
            return AllBacklinksOperand(LinkChain(links, cancellation), target: target, label: label)
        case .links(let links): return try operand(property, links, label)
        case .column(let column, let target, let links, let steps):
            let operand = try columnOperand(property, column, of: target, links: links, steps: steps, label: label)
            return try apply(
                property.postfix, to: operand, column: column, of: target, links: links, in: property)
        }
    }

    /// Returns the operand for a path that ends with links: the links themselves, their number or their type.
    ///
    /// - Parameters:
    ///   - property: The key path as it is written.
    ///   - links: The resolved links; at least one.
    ///   - label: The text that query plans and messages show.
    /// - Throws: `QueryError.invalid` for a quantifier before a path of to-one links.
    private func operand(_ property: ExpressionSyntax.Property, _ links: [LinkStep], _ label: String) throws(QueryError)
        -> any Operand
    {
        guard let last = links.last else { throw invalid(.structure, "the path names no property", property.range) }
        switch property.postfix {
        case .count: return LinkCountOperand(LinkChain(Array(links.dropLast()), cancellation), last: last, label: label)
        case .type: return ConstantOperand(.int(TypeName.objectLink), type: .typeOfValue, label: label)
        case nil:
            let chain = LinkChain(links, cancellation)
            try requireList(property.quantifier, chain.isUnary, property.range)
            return LinkOperand(chain, target: last.target, quantifier: property.quantifier, label: label)
        }
    }

    /// Returns the operand for a property, or for what `steps` select in the collection or the mixed value that it holds.
    ///
    /// - Parameters:
    ///   - property: The key path as it is written.
    ///   - column: The property that it leads to.
    ///   - links: The links that lead to the class.
    ///   - steps: The steps after the property.
    ///   - label: The text that query plans and messages show.
    /// - Throws: `QueryError.invalid` when the property does not support the steps.
    private func columnOperand(
        _ property: ExpressionSyntax.Property, _ column: Column, of target: Table, links: [LinkStep], steps: [PathStep],
        label: String
    ) throws(QueryError) -> any Operand {
        let chain = LinkChain(links, cancellation)
        let quantifier = property.quantifier
        if property.postfix == nil, isLength(steps, column) {
            return ElementLengthOperand(column, chain: chain, quantifier: quantifier, label: label)
        }
        switch column.collection {
        case nil:
            if steps.isEmpty {
                try requireList(quantifier, chain.isUnary, property.range)
                return PropertyOperand(column, chain: chain, quantifier: quantifier, label: label)
            }
            guard column.type == .mixed else { throw noStep(steps, into: column, of: target, in: property) }
            return MixedPathOperand(
                column, chain: chain, descent: descent(steps), quantifier: quantifier, label: label)
        case .list:
            guard steps.isEmpty || canIndexList(steps, column) else {
                throw noStep(steps, into: column, of: target, in: property)
            }
            return ListOperand(column, chain: chain, descent: descent(steps), quantifier: quantifier, label: label)
        case .set:
            guard steps.isEmpty else { throw noStep(steps, into: column, of: target, in: property) }
            return ListOperand(column, chain: chain, descent: descent([]), quantifier: quantifier, label: label)
        case .dictionary: return try dictionaryOperand(property, column, of: target, chain: chain, steps: steps, label: label)
        }
    }

    /// Returns the operand for a dictionary: its values, its keys, or what a path of keys selects.
    ///
    /// - Parameters:
    ///   - property: The key path as it is written.
    ///   - chain: The links that lead to the class.
    ///   - steps: The steps after the property; without any, all values are meant.
    ///   - label: The text that query plans and messages show.
    /// - Throws: `QueryError.invalid` for a numeric index, and for steps after `@keys`.
    private func dictionaryOperand(
        _ property: ExpressionSyntax.Property, _ column: Column, of target: Table, chain: LinkChain, steps: [PathStep],
        label: String
    ) throws(QueryError) -> any Operand {
        var steps = steps
        if case .key("@values", _)? = steps.first { steps.removeFirst() }
        if steps.isEmpty { steps = [.all] }
        if case .key("@keys", _) = steps[0] {
            guard steps.count == 1 else { throw noStep(steps, into: column, of: target, in: property) }
            return DictionaryKeysOperand(column, of: target, chain: chain, quantifier: property.quantifier, label: label)
        }
        switch steps[0] {
        case .index, .last: throw noStep(steps, into: column, of: target, in: property)
        case .key, .all:
            return DictionaryOperand(
                column, of: target, chain: chain, descent: descent(steps), quantifier: property.quantifier, label: label)
        }
    }

    /// Makes the descent that applies the steps of a path to nested collections.
    private func descent(_ steps: [PathStep]) -> ValueDescent {
        ValueDescent(steps: steps, snapshot: snapshot, cancellation: cancellation)
    }

    /// Whether a list supports the steps: one index, and more steps only into mixed elements.
    private func canIndexList(_ steps: [PathStep], _ column: Column) -> Bool {
        if case .key = steps[0] { return false }
        return steps.count == 1 || column.type == .mixed
    }

    /// Whether the steps are `.length` of a list or set whose elements have a length.
    private func isLength(_ steps: [PathStep], _ column: Column) -> Bool {
        guard steps.count == 1, case .key(let name, _) = steps[0], name.lowercasedASCII == "length",
            column.collection == .list || column.collection == .set
        else { return false }
        return column.type == .string || column.type == .binary || column.type == .mixed
    }

    /// Throws `QueryError.invalid` when a path with a single value has a quantifier.
    private func requireList(_ quantifier: Quantifier?, _ isUnary: Bool, _ range: Range<Int>) throws(QueryError) {
        guard let quantifier, isUnary else { return }
        throw invalid(.structure, "the key path following '\(quantifier.rawValue)' must contain a list", range)
    }

    /// Makes the error for a property that does not support the first of the steps.
    ///
    /// - Parameters:
    ///   - steps: The steps after the property; at least one.
    ///   - property: The key path as it is written, for the position of the error.
    private func noStep(
        _ steps: [PathStep], into column: Column, of table: Table, in property: ExpressionSyntax.Property
    ) -> QueryError {
        let owner = "'\(table.className ?? table.name).\(column.name)'"
        if steps.count > 1, column.type != .mixed {
            return invalid(.structure, "only mixed properties have nested collections, and \(owner) is not mixed", property.range)
        }
        if case .key(let name, _) = steps[0] {
            let isLength = ["length", "count", "size"].contains(name.lowercasedASCII)
            return invalid(
                .unknownProperty,
                "property \(owner) has no property '\(name.truncated)'\(isLength ? "; did you mean '@count'?" : "")",
                property.range)
        }
        return invalid(.structure, "property \(owner) does not support index \(steps[0].label)", property.range)
    }

    // MARK: - Aggregates

    /// Returns the operand for `@min`, `@max`, `@sum` or `@avg` of a collection, or of a property of linked objects.
    ///
    /// - Throws: `QueryError.invalid` when the type cannot be combined in this way, or the path
    ///   does not lead to a collection.
    private mutating func operand(_ aggregate: ExpressionSyntax.Aggregate) throws(QueryError) -> any Operand {
        let label = source(aggregate.range)
        let resolved = try resolve(aggregate.path)
        if let name = aggregate.property { return try linkAggregate(aggregate, of: name, at: resolved, label: label) }
        guard case .column(let column, let target, let links, _) = resolved, column.collection != nil,
            Aggregation.supports(aggregate.aggregate, column.type, ofLinkedObjects: false)
        else {
            throw invalid(
                .typeMismatch, "\(aggregate.aggregate.rawValue) cannot be used for this type of property",
                aggregate.range)
        }
        return CollectionAggregateOperand(
            column, of: target, chain: LinkChain(links, cancellation), aggregate: aggregate.aggregate, label: label)
    }

    /// Returns the operand for the aggregate of a property over all objects that a path reaches.
    ///
    /// - Parameters:
    ///   - aggregate: The aggregate as it is written.
    ///   - name: The name of the property, which may be an alias.
    ///   - resolved: The resolved path; it has to end with links.
    ///   - label: The text that query plans and messages show.
    /// - Throws: `QueryError.invalid` when the property does not exist, is a collection, or has a
    ///   type that cannot be combined in this way.
    private func linkAggregate(
        _ aggregate: ExpressionSyntax.Aggregate, of name: String, at resolved: PathResolver.ResolvedPath, label: String
    ) throws(QueryError) -> any Operand {
        guard case .links(let links) = resolved, let target = links.last?.target else {
            throw invalid(
                .structure, "\(aggregate.aggregate.rawValue) cannot apply to a property that is not a list of links",
                aggregate.range)
        }
        let translated = try paths.translate(name, target)
        guard let column = target.column(named: translated) else {
            throw invalid(
                .unknownProperty,
                "'\(target.className ?? target.name)' has no property '\(translated.truncated)'\(target.hint(for: translated))",
                aggregate.range)
        }
        guard column.collection == nil,
            Aggregation.supports(aggregate.aggregate, column.type, ofLinkedObjects: true)
        else {
            throw invalid(
                .typeMismatch, "\(aggregate.aggregate.rawValue) cannot be used for this type of property",
                aggregate.range)
        }
        paths.recorder.add(column, of: target)
        return LinkAggregateOperand(
            LinkChain(links, cancellation), target: target, column: column, aggregate: aggregate.aggregate, label: label)
    }

    // MARK: - Subqueries

    /// Returns the operand for `SUBQUERY`. Its variable is defined only while the predicate inside is bound.
    ///
    /// - Throws: `QueryError.invalid` when the path does not lead to a list of links, or the
    ///   variable is in use already.
    private mutating func operand(_ subquery: ExpressionSyntax.Subquery) throws(QueryError) -> any Operand {
        guard subquery.path.argument == nil else {
            throw invalid(.structure, "a subquery does not take a key path argument", subquery.path.range)
        }
        guard case .links(let links) = try resolve(subquery.path), let last = links.last,
            last.kind == .list || last.kind == .backlink
        else { throw invalid(.structure, "a subquery must operate on a list of links", subquery.path.range) }
        let variable = PathResolver.Variable(table: last.target.key, name: subquery.variable)
        guard paths.variables.insert(variable).inserted else {
            throw invalid(
                .structure, "the variable '\(subquery.variable)' is already used in this context", subquery.range)
        }
        let outer = table
        table = last.target
        let inner = try condition(subquery.predicate)
        table = outer
        paths.variables.remove(variable)
        let test = TargetTest(inner, on: last.target, missing: false, cancellation)
        return SubqueryOperand(LinkChain(links, cancellation), test, label: source(subquery.range))
    }

    // MARK: - Arithmetic

    /// Returns the operand for an arithmetic expression. One that consists of constants alone is calculated here.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - right: The right side.
    ///   - hint: The type to which constants are converted when both sides are constant.
    ///   - reading: The type by which arguments are read then.
    ///   - range: The bytes of the whole expression, for the positions of errors.
    /// - Throws: `QueryError.invalid` when a side is not numeric, or both are multi-valued.
    private mutating func arithmetic(
        _ operation: ArithmeticOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax, hint: OperandType,
        reading: OperandType, _ range: Range<Int>
    ) throws(QueryError) -> any Operand {
        let isInside = isArithmetic
        isArithmetic = true
        defer { isArithmetic = isInside }
        if left.isConstant, right.isConstant, !left.isList, !right.isList {
            let leftOperand = try operand(left, hint: hint, reading: reading)
            let rightOperand = try operand(right, hint: hint, reading: reading)
            try requireNumbers(leftOperand, rightOperand, for: operation, at: range)
            if let leftValue = leftOperand.constantValue, let rightValue = rightOperand.constantValue {
                return ConstantOperand(operation.apply(leftValue, rightValue), type: .mixed, label: source(range))
            }
            return ArithmeticOperand.make(leftOperand, operation, rightOperand, cancellation: cancellation)
        }
        let leftOperand: any Operand
        let rightOperand: any Operand
        if right.isConstant {
            leftOperand = try operand(left)
            rightOperand = try operand(right, hint: leftOperand.type, reading: leftOperand.readingType)
        } else {
            rightOperand = try operand(right)
            leftOperand =
                left.isConstant
                ? try operand(left, hint: rightOperand.type, reading: rightOperand.readingType) : try operand(left)
        }
        try requireNumbers(leftOperand, rightOperand, for: operation, at: range)
        guard !(leftOperand.isMultiValued && rightOperand.isMultiValued) else {
            throw invalid(.structure, "arithmetic on two lists is not supported", range)
        }
        return ArithmeticOperand.make(leftOperand, operation, rightOperand, cancellation: cancellation)
    }

    /// Throws `QueryError.invalid` unless both sides of an arithmetic operator may be numbers.
    private func requireNumbers(
        _ left: any Operand, _ right: any Operand, for operation: ArithmeticOperator, at range: Range<Int>
    ) throws(QueryError) {
        guard left.type.isNumeric, right.type.isNumeric else {
            throw invalid(
                .typeMismatch, "cannot perform '\(operation.rawValue)' on '\(left.label)' and '\(right.label)'", range)
        }
    }

    // MARK: - Elements

    /// Returns the operand for `self` in a filter over the values of a collection, with its suffix.
    ///
    /// - Parameters:
    ///   - property: The path as it is written.
    ///   - element: The place from which the value is read, and its type.
    /// - Throws: `QueryError.invalid` for every other path, and for a suffix that the type does not
    ///   support.
    private func elementOperand(
        _ property: ExpressionSyntax.Property, _ element: (box: ElementOperand.Box, type: ColumnType)
    ) throws(QueryError) -> any Operand {
        guard case .key(let name)? = property.path.elements.first, name.lowercasedASCII == "self",
            property.path.elements.count == 1
        else {
            throw invalid(.unknownProperty, "a value has no properties; write 'self' for the value", property.range)
        }
        try requireList(property.quantifier, true, property.range)
        let operand = ElementOperand(element.box, type: OperandType(element.type))
        return try apply(property.postfix, to: operand, of: element.type, in: property)
    }
}
