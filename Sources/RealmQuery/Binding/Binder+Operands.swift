// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension ExpressionSyntax {
    /// Is it made of constants alone?
    var isConstant: Bool {
        switch self {
        case .constant, .list: return true
        case .property, .aggregate, .subquery: return false
        case .operation(_, let left, let right, _): return left.isConstant && right.isConstant
        }
    }

    /// Is a list literal part of it?
    var isList: Bool {
        switch self {
        case .list: return true
        case .constant, .property, .aggregate, .subquery: return false
        case .operation(_, let left, let right, _): return left.isList || right.isList
        }
    }
}

extension Binder {
    /// An operand; constants in it are converted for a comparison with a value of type `hint`.
    mutating func operand(_ expression: ExpressionSyntax, hint: OperandType = .int) throws(QueryError) -> any Operand {
        switch expression {
        case .constant(let constant): return try operand(constant, hint: hint)
        case .list(let list): return try operand(list, hint: hint)
        case .property(let property): return try operand(property)
        case .aggregate(let aggregate): return try operand(aggregate)
        case .subquery(let subquery): return try operand(subquery)
        case .operation(let operation, let left, let right, let range):
            return try arithmetic(operation, left, right, hint: hint, range)
        }
    }

    // MARK: - Key paths

    /// The elements of a path, with arguments replaced by their values.
    func elements(of path: PathSyntax) throws(QueryError) -> [PathSyntax.Element] {
        if let number = path.argument {
            guard path.elements.isEmpty else {
                throw invalid(.argument, "a key path argument cannot be combined with other names", path.range)
            }
            guard case .string(let text) = try argument(number, path.range) else {
                throw invalid(.argument, "a key path argument must be a string", path.range)
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

    /// The element of a path that an argument in brackets stands for: an index, `LAST` for -1, or a key.
    private func indexElement(_ number: Int, _ range: Range<Int>) throws(QueryError) -> PathSyntax.Element {
        switch try argument(number, range) {
        case .int(-1): return .last
        // A negative index lies outside every list.
        case .int(let index): return .index(index < 0 ? .max : Int(index))
        case .string(let key): return .key(key)
        default: throw invalid(.argument, "an index must be an int or a string", range)
        }
    }

    /// Where a path of the query leads from the class that is looked at.
    func resolve(_ path: PathSyntax) throws(QueryError) -> ResolvedPath {
        var resolver = paths
        resolver.text = source(path.range)
        resolver.position = position(path.range)
        return try resolver.resolve(try elements(of: path), from: table)
    }

    /// The operand for a key path with its quantifier and suffix.
    private mutating func operand(_ property: PropertySyntax) throws(QueryError) -> any Operand {
        if let element { return try elementOperand(property, element) }
        let label = source(property.range)
        switch try resolve(property.path) {
        case .allBacklinks(let links, let target):
            guard property.postfix != .type else { throw unsupported("@type", property) }
            return AllBacklinksOperand(LinkChain(links, cancellation), target: target, label: label)
        case .links(let links): return try operand(property, links, label)
        case .column(let column, let target, let links, let steps):
            let operand = try columnOperand(property, column, of: target, links: links, steps: steps, label: label)
            return try apply(property.postfix, to: operand, column: column, of: target, links: links, in: property)
        }
    }

    /// The operand for a path that ends with a link: the links themselves, their number or their type.
    private func operand(_ property: PropertySyntax, _ links: [LinkStep], _ label: String) throws(QueryError) -> any Operand {
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

    /// The operand for a property, or for what `steps` select in the collection or the mixed value that it holds.
    private func columnOperand(
        _ property: PropertySyntax, _ column: Column, of target: Table, links: [LinkStep], steps: [PathStep], label: String
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

    /// The operand for a dictionary: its values, its keys, or one entry.
    private func dictionaryOperand(
        _ property: PropertySyntax, _ column: Column, of target: Table, chain: LinkChain, steps: [PathStep], label: String
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

    /// The walk along steps into nested collections.
    private func descent(_ steps: [PathStep]) -> ValueDescent {
        ValueDescent(steps: steps, snapshot: snapshot, cancellation: cancellation)
    }

    /// Lists take one index; lists of mixed go on behind it.
    private func canIndexList(_ steps: [PathStep], _ column: Column) -> Bool {
        if case .key = steps[0] { return false }
        return steps.count == 1 || column.type == .mixed
    }

    /// Whether the steps are `.length` of a list or set whose elements have a length.
    private func isLength(_ steps: [PathStep], _ column: Column) -> Bool {
        guard steps.count == 1, case .key(let name, _) = steps[0], name.lowercased() == "length",
            column.collection == .list || column.collection == .set
        else { return false }
        return column.type == .string || column.type == .binary || column.type == .mixed
    }

    /// A quantifier needs a path that may yield several values.
    private func requireList(_ quantifier: Quantifier?, _ isUnary: Bool, _ range: Range<Int>) throws(QueryError) {
        guard let quantifier, isUnary else { return }
        throw invalid(.structure, "the key path following '\(quantifier.rawValue)' must contain a list", range)
    }

    /// The property does not take the first of the steps.
    private func noStep(
        _ steps: [PathStep], into column: Column, of table: Table, in property: PropertySyntax
    ) -> QueryError {
        let owner = "'\(table.className ?? table.name).\(column.name)'"
        if steps.count > 1, column.type != .mixed {
            return invalid(.structure, "only mixed properties have nested collections, \(owner) has not", property.range)
        }
        if case .key(let name, _) = steps[0] {
            return invalid(.unknownProperty, "property \(owner) has no property '\(name)'", property.range)
        }
        return invalid(.structure, "property \(owner) does not support index \(steps[0].label)", property.range)
    }

    // MARK: - Suffix operators

    /// The operand does not take this suffix.
    private func unsupported(_ suffix: String, _ property: PropertySyntax) -> QueryError {
        invalid(.typeMismatch, "\(suffix) is not supported on '\(source(property.path.range))'", property.range)
    }

    /// The operand with its suffix `.@count` or `.@type`, if it has one.
    private func apply(
        _ postfix: PropertySyntax.Postfix?, to operand: any Operand, column: Column, of target: Table, links: [LinkStep],
        in property: PropertySyntax
    ) throws(QueryError) -> any Operand {
        switch postfix {
        case nil: return operand
        case .count:
            if operand.isPrimitiveCollection {
                return CollectionSizeOperand(column, of: target, chain: LinkChain(links, cancellation), label: operand.label)
            }
            guard operand is PropertyOperand || operand is MixedPathOperand,
                operand.type == .string || operand.type == .binary || operand.type == .mixed
            else { throw unsupported("@count", property) }
            return DerivedOperand.make(operand, ByteLength(space: snapshot.space), quantifier: nil)
        case .type:
            if operand.type == .mixed { return DerivedOperand.make(operand, TypeBits(), quantifier: operand.quantifier) }
            guard operand is PropertyOperand else { throw unsupported("@type", property) }
            return ConstantOperand(.int(TypeName.bits(of: column.type)), type: .typeOfValue, label: operand.label)
        }
    }

    // MARK: - Aggregates

    /// The operand for `@min`, `@max`, `@sum` or `@avg` of a collection, or of a property of linked objects.
    private mutating func operand(_ aggregate: AggregateSyntax) throws(QueryError) -> any Operand {
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

    /// The aggregate of a property over all objects that a path reaches.
    private func linkAggregate(
        _ aggregate: AggregateSyntax, of name: String, at resolved: ResolvedPath, label: String
    ) throws(QueryError) -> any Operand {
        guard case .links(let links) = resolved, let target = links.last?.target else {
            throw invalid(
                .structure, "\(aggregate.aggregate.rawValue) cannot apply to a property that is not a list of links",
                aggregate.range)
        }
        let translated = try paths.translate(name, target)
        guard let column = target.column(named: translated) else {
            throw invalid(
                .unknownProperty, "'\(target.className ?? target.name)' has no property '\(translated)'",
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

    /// The operand for `SUBQUERY`. Its variable is known while the predicate inside is bound, and no longer.
    private mutating func operand(_ subquery: SubquerySyntax) throws(QueryError) -> any Operand {
        guard subquery.path.argument == nil else {
            throw invalid(.structure, "a subquery does not take a key path argument", subquery.path.range)
        }
        guard case .links(let links) = try resolve(subquery.path), let last = links.last,
            last.kind == .list || last.kind == .backlink
        else { throw invalid(.structure, "a subquery must operate on a list of links", subquery.path.range) }
        let variable = PathResolver.Variable(table: last.target.key, name: subquery.variable)
        guard paths.variables.insert(variable).inserted else {
            throw invalid(
                .structure, "the variable '\(subquery.variable)' is used already in this context", subquery.range)
        }
        let outer = table
        table = last.target
        let inner = try condition(subquery.predicate)
        table = outer
        paths.variables.remove(variable)
        return SubqueryOperand(LinkChain(links, cancellation), condition: inner, label: source(subquery.range))
    }

    // MARK: - Arithmetic

    /// The operand for an arithmetic expression; one of constants alone is calculated here.
    private mutating func arithmetic(
        _ operation: ArithmeticOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax, hint: OperandType,
        _ range: Range<Int>
    ) throws(QueryError) -> any Operand {
        if left.isConstant, right.isConstant, !left.isList, !right.isList {
            let leftOperand = try operand(left, hint: hint)
            let rightOperand = try operand(right, hint: hint)
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
            rightOperand = try operand(right, hint: leftOperand.type)
        } else {
            rightOperand = try operand(right)
            leftOperand = left.isConstant ? try operand(left, hint: rightOperand.type) : try operand(left)
        }
        try requireNumbers(leftOperand, rightOperand, for: operation, at: range)
        guard !(leftOperand.isMultiValued && rightOperand.isMultiValued) else {
            throw invalid(.structure, "arithmetic on two lists is not supported", range)
        }
        return ArithmeticOperand.make(leftOperand, operation, rightOperand, cancellation: cancellation)
    }

    /// Throws `.invalid` unless both sides of an arithmetic operator may be numbers.
    private func requireNumbers(
        _ left: any Operand, _ right: any Operand, for operation: ArithmeticOperator, at range: Range<Int>
    ) throws(QueryError) {
        guard left.type.isNumeric, right.type.isNumeric else {
            throw invalid(
                .typeMismatch, "cannot perform '\(operation.rawValue)' on '\(left.label)' and '\(right.label)'", range)
        }
    }

    // MARK: - Elements

    /// `self`, in a filter over the values of a collection.
    private func elementOperand(
        _ property: PropertySyntax, _ element: (box: ElementOperand.Box, type: ColumnType)
    ) throws(QueryError) -> any Operand {
        guard case .key(let name)? = property.path.elements.first, name.lowercased() == "self",
            property.path.elements.count == 1
        else {
            throw invalid(.unknownProperty, "a value has no properties; 'self' names it", property.range)
        }
        try requireList(property.quantifier, true, property.range)
        let operand = ElementOperand(element.box, type: OperandType(element.type))
        switch property.postfix {
        case nil: return operand
        case .count:
            guard operand.type == .string || operand.type == .binary || operand.type == .mixed else {
                throw unsupported("@count", property)
            }
            return DerivedOperand.make(operand, ByteLength(space: snapshot.space), quantifier: nil)
        case .type:
            if operand.type == .mixed { return DerivedOperand.make(operand, TypeBits(), quantifier: operand.quantifier) }
            return ConstantOperand(.int(TypeName.bits(of: element.type)), type: .typeOfValue, label: operand.label)
        }
    }
}
