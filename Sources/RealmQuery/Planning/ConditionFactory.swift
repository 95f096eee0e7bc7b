// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Picks the fastest condition for a comparison of two operands.
enum ConditionFactory {
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
            if let column = baseColumn(right), let constant = single(left), case .relation(let relation) = comparator {
                return ColumnCondition(column, .relation(relation.mirrored), constant, label: label, cancellation)
            }
            if let column = baseColumn(left), let other = baseColumn(right), column.type == .int, other.type == .int,
                case .relation(let relation) = comparator
            {
                return ColumnPairCondition(column, relation, other, label: label)
            }
        }
        if let left = left.single, let right = right.single {
            return SingleCompareCondition(left, comparator, right, label: label, cancellation)
        }
        let targets = quantifier == .any ? (right as? ConstantOperand)?.values : nil
        return CompareCondition(
            left, comparator, right, quantifier: quantifier,
            backlinks: targets.flatMap { backlinkLookup(left, comparator, to: $0) }, label: label, cancellation)
    }

    /// The incoming links of the objects that links of the base class are compared with, if equality is asked for.
    private static func backlinkLookup(
        _ left: any Operand, _ comparator: Comparator, to targets: [Value]
    ) -> BacklinkLookup? {
        guard case .relation(.equal) = comparator, let links = left as? LinkOperand, links.chain.steps.count == 1,
            let step = links.chain.steps.first
        else { return nil }
        return BacklinkLookup(step, to: targets)
    }

    /// The column of the base class that an operand is the value of.
    private static func baseColumn(_ operand: any Operand) -> Column? {
        if let property = operand as? PropertyOperand, property.isOfBaseClass { return property.column }
        guard let links = operand as? LinkOperand, links.chain.steps.count == 1, let step = links.chain.steps.first,
            step.kind == .link
        else { return nil }
        return step.column
    }

    private static func single(_ operand: any Operand) -> Value? {
        guard let constant = operand as? ConstantOperand, !constant.isList else { return nil }
        return constant.constantValue
    }
}
