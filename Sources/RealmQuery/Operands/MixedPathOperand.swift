// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A mixed property with steps into the collections that its value holds. It is always
/// multi-valued, even if the steps select one value.
final class MixedPathOperand: Operand {
    var type: OperandType { .mixed }
    private(set) var quantifier: Quantifier?
    let label: String
    private let chain: LinkChain
    private let reader: ColumnReader
    /// The steps of the path into the mixed value; there is at least one.
    private let descent: ValueDescent

    /// Creates the operand for a path into the value of a mixed property.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - descent: The steps into its value.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
    init(_ column: Column, chain: LinkChain, descent: ValueDescent, quantifier: Quantifier?, label: String) {
        self.chain = chain
        self.descent = descent
        reader = ColumnReader(column, chain.cancellation)
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { true }
    var selectsOne: Bool { chain.isUnary && descent.selectsOne }
    func demandAny() { quantifier = .any }
    var single: (any SingleOperand)? { nil }
    /// Whether a to-many link is on the path. Steps into a mixed value do not make an operand a list for `IN`.
    var isCollectionForIn: Bool { !chain.isUnary }

    /// Collects what the steps select in the value of every object that the path reaches, one group
    /// for each place at which the last step applies.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            try descent.collect(try reader.value(target), into: &groups)
            return true
        }
        groups.finish()
    }
}
