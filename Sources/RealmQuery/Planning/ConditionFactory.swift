// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Picks the fastest condition for a comparison of two operands.
enum ConditionFactory {
    static func compare(
        _ left: Operand, _ comparator: Comparator, _ right: Operand, quantifier: Quantifier? = nil, label: String,
        _ interrupt: Interrupt
    ) -> Condition {
        let comparator = right.constantValue.map(comparator.prepared) ?? comparator
        if left.quantifier == nil, right.quantifier == nil {
            if let column = baseColumn(left), let constant = single(right) {
                let step = (left as? LinkOperand)?.chain.steps.first
                return ColumnCondition(column, comparator, constant, link: step, label: label, interrupt)
            }
            if let column = baseColumn(right), let constant = single(left), case .relation(let relation) = comparator {
                return ColumnCondition(column, .relation(relation.mirrored), constant, label: label, interrupt)
            }
            if let column = baseColumn(left), let other = baseColumn(right), column.type == .int, other.type == .int,
                case .relation(let relation) = comparator
            {
                return ColumnPairCondition(column, relation, other, label: label)
            }
        }
        return CompareCondition(
            left, comparator, right, quantifier: quantifier,
            backlinks: backlinkLookup(left, comparator, right, quantifier), label: label, interrupt)
    }

    /// Links of the base class of which any equals one of some objects.
    private static func backlinkLookup(
        _ left: Operand, _ comparator: Comparator, _ right: Operand, _ quantifier: Quantifier?
    ) -> BacklinkLookup? {
        guard quantifier == .any, case .relation(.equal) = comparator, let links = left as? LinkOperand,
            let step = links.chain.steps.first, links.chain.steps.count == 1, let constant = right as? ConstantOperand
        else { return nil }
        return BacklinkLookup(step, to: constant.values)
    }

    /// The column of the base class that an operand is the value of.
    private static func baseColumn(_ operand: Operand) -> Column? {
        if let property = operand as? PropertyOperand, property.isOfBaseClass { return property.column }
        guard let links = operand as? LinkOperand, links.chain.steps.count == 1, let step = links.chain.steps.first,
            step.kind == .link
        else { return nil }
        return step.column
    }

    private static func single(_ operand: Operand) -> Value? {
        guard let constant = operand as? ConstantOperand, !constant.isList else { return nil }
        return constant.constantValue
    }
}
