// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A property with one value, of objects that a path of at least one link leads to.
struct LinkedProperty {
    let path: [LinkStep]
    /// The column of the property, in the class that the path leads to.
    let column: Column

    /// Makes the property that an operand is; nil for all other operands.
    init?(_ operand: any Operand) {
        switch operand {
        case let property as PropertyOperand where !property.chain.isEmpty:
            path = property.chain.steps
            column = property.column
        // Where several links lead to the last one, those that are null are no values, unlike other properties that are null.
        case let links as LinkOperand where links.chain.steps.count > 1 && links.chain.isUnary:
            path = Array(links.chain.steps.dropLast())
            guard let last = links.chain.steps.last else { return nil }
            column = last.column
        default: return nil
        }
    }
}
