// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An operand that replaces every value of another one, in the groups in which they come.
final class DerivedOperand<Derivation: ValueDerivation>: Operand {
    let quantifier: Quantifier?
    private let inner: any Operand
    private let derivation: Derivation

    var type: OperandType { Derivation.type }
    var label: String { inner.label }
    var isMultiValued: Bool { inner.isMultiValued }
    var single: (any SingleOperand)? { nil }

    private init(_ inner: any Operand, _ derivation: Derivation, quantifier: Quantifier?) {
        self.inner = inner
        self.derivation = derivation
        self.quantifier = quantifier
    }

    /// The operand for the values of `inner`, in the form that suits it.
    static func make(_ inner: any Operand, _ derivation: Derivation, quantifier: Quantifier?) -> any Operand {
        guard let single = inner.single else { return DerivedOperand(inner, derivation, quantifier: quantifier) }
        return DerivedSingleOperand(single, derivation, quantifier: quantifier)
    }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        try inner.evaluate(row, into: &groups)
        try groups.transform { value throws(StorageError) in try derivation.derive(value) }
    }
}
