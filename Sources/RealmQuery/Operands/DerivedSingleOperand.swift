// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An operand that replaces the one value of another one.
final class DerivedSingleOperand<Derivation: ValueDerivation>: SingleOperand {
    let quantifier: Quantifier?
    private let inner: any SingleOperand
    private let derivation: Derivation

    var type: OperandType { Derivation.type }
    var label: String { inner.label }
    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    init(_ inner: any SingleOperand, _ derivation: Derivation, quantifier: Quantifier?) {
        self.inner = inner
        self.derivation = derivation
        self.quantifier = quantifier
    }

    func value(_ row: borrowing Row) throws(StorageError) -> Value { try derivation.derive(try inner.value(row)) }

    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        let start = values.count
        try inner.append(leaf, rows, to: &values)
        for index in start..<values.count { values[index] = try derivation.derive(values[index]) }
    }
}
