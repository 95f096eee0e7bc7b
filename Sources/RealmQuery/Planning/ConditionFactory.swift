// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Chooses the fastest condition for a comparison of two operands whose types the binder has checked.
enum ConditionFactory {
    /// Returns the condition for a comparison.
    ///
    /// - Parameters:
    ///   - comparator: The way in which two values are compared.
    ///   - quantifier: Replaces the quantifiers of both operands if it is given.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    /// - Returns: A condition on whole packed leaves where both sides are columns of the base class
    ///   or one of them is a constant; a condition on single values where both sides have exactly
    ///   one; otherwise the general one for lists.
    static func compare(
        _ left: any Operand, _ comparator: Comparator, _ right: any Operand, quantifier: Quantifier? = nil, label: String,
        _ cancellation: CancellationCheck
    ) -> any Condition {
        let comparator = right.constantValue.map(comparator.prepared) ?? comparator
        if left.quantifier == nil, right.quantifier == nil {
            if let column = baseColumn(left), let constant = single(right) {
                return ColumnCondition(
                    column, comparator, constant, backlinks: backlinkLookup(left, comparator, to: [constant]), label: label,
                    cancellation)
            }
            if let column = baseColumn(right), let constant = single(left), let mirrored = comparator.mirrored {
                return ColumnCondition(column, mirrored, constant, label: label, cancellation)
            }
            if let column = baseColumn(left), let other = baseColumn(right), column.type == .int, other.type == .int,
                case .relation(let relation) = comparator
            {
                return ColumnPairCondition(column, relation, other, label: label, cancellation: cancellation)
            }
        }
        if left.quantifier == nil, case .relation(let relation) = comparator, case .int(let constant)? = single(right),
            right.quantifier == nil, let integers = left.single as? any IntegerOperand, integers.isInteger
        {
            return IntegerCondition(integers, relation, constant, label: label, cancellation)
        }
        if let condition = typeOfValue(left, comparator, right, label: label, cancellation) { return condition }
        if right.quantifier == nil, let constant = single(right) {
            let quantifier = quantifier ?? left.quantifier
            let found =
                linked(left, comparator, constant, quantifier: quantifier, label: label, cancellation)
                ?? inPlace(left, comparator, constant, quantifier: quantifier ?? .any, label: label, cancellation)
            if let found { return found }
        }
        if let left = left.single, let right = right.single {
            return SingleCompareCondition(left, comparator, right, label: label, cancellation)
        }
        let targets = quantifier == .any ? (right as? ConstantOperand)?.values : nil
        return CompareCondition(
            left, comparator, right, quantifier: quantifier,
            backlinks: targets.flatMap { backlinkLookup(left, comparator, to: $0) }, label: label, cancellation)
    }

    /// Returns the condition for the type of a Mixed property of the base class that is compared with a constant; nil for all other operands.
    private static func typeOfValue(
        _ left: any Operand, _ comparator: Comparator, _ right: any Operand, label: String, _ cancellation: CancellationCheck
    ) -> (any Condition)? {
        let isNegated: Bool
        switch comparator {
        case .sharesType: isNegated = false
        case .sharesNoType: isNegated = true
        default: return nil
        }
        guard let types = left as? DerivedSingleOperand<TypeBits>, let property = types.inner as? PropertyOperand,
            property.isOfBaseClass, property.column.type == .mixed, left.quantifier == nil, right.quantifier == nil,
            case .int(let bits)? = single(right)
        else { return nil }
        return TypeCondition(property.column, bits, isNegated: isNegated, label: label, cancellation)
    }

    /// Returns the condition for a property of linked objects that is compared with one constant; nil for all other operands.
    private static func linked(
        _ left: any Operand, _ comparator: Comparator, _ constant: Value, quantifier: Quantifier?, label: String,
        _ cancellation: CancellationCheck
    ) -> (any Condition)? {
        guard let end = LinkedProperty(left) else { return nil }
        let isAll = quantifier == .all
        // One link always has a value, which is null if it leads nowhere; several are as many as there are.
        let missing = end.path.allSatisfy { $0.kind == .link } ? comparator.holds(.null, constant) : isAll
        var condition: any Condition = ColumnCondition(end.column, comparator, constant, label: label, cancellation)
        for step in end.path.reversed() {
            let test = TargetTest(condition, on: step.target, missing: missing, cancellation)
            condition = LinkedCondition(step, isAll ? .all : .any, test, label: label, cancellation)
        }
        return quantifier == Quantifier.none ? NotCondition(condition) : condition
    }

    /// Returns the condition for elements of a collection of the base class that are compared with one constant; nil for all other operands.
    private static func inPlace(
        _ left: any Operand, _ comparator: Comparator, _ constant: Value, quantifier: Quantifier, label: String,
        _ cancellation: CancellationCheck
    ) -> (any Condition)? {
        switch left {
        case let list as ListOperand where list.chain.isEmpty && list.takesAll:
            let test = ElementTest(list.column.type, comparator, constant)
            return ElementsCondition(list.column, quantifier, test, label: label, cancellation)
        case let dictionary as DictionaryOperand where dictionary.chain.isEmpty:
            guard let part = dictionary.part(quantifier) else { return nil }
            let test = ElementTest(.mixed, comparator, constant)
            return EntriesCondition(dictionary.column, of: dictionary.table, part, test: test, label: label, cancellation)
        case let keys as DictionaryKeysOperand where keys.chain.isEmpty:
            let test = ElementTest(.string, comparator, constant)
            return EntriesCondition(keys.column, of: keys.table, .keys(quantifier), test: test, label: label, cancellation)
        default: return nil
        }
    }

    /// The incoming links of the objects with which links of the base class are compared by
    /// equality; nil when they do not help.
    private static func backlinkLookup(
        _ left: any Operand, _ comparator: Comparator, to targets: [Value]
    ) -> BacklinkLookup? {
        guard case .relation(.equal) = comparator, let links = left as? LinkOperand, links.chain.steps.count == 1,
            let step = links.chain.steps.first
        else { return nil }
        return BacklinkLookup(step, to: targets, links.chain.cancellation)
    }

    /// The column of the base class whose value the operand is; nil for all other operands.
    private static func baseColumn(_ operand: any Operand) -> Column? {
        if let property = operand as? PropertyOperand, property.isOfBaseClass { return property.column }
        guard let links = operand as? LinkOperand, links.chain.steps.count == 1, let step = links.chain.steps.first,
            step.kind == .link
        else { return nil }
        return step.column
    }

    /// The value of a constant that is not a list; nil for all other operands.
    private static func single(_ operand: any Operand) -> Value? {
        guard let constant = operand as? ConstantOperand, !constant.isList else { return nil }
        return constant.constantValue
    }
}
