// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An operand that replaces the one value of another operand by one that is derived from it.
final class DerivedSingleOperand<Derivation: ValueDerivation>: SingleOperand {
    let quantifier: Quantifier?
    /// The operand from whose value the result is derived.
    let inner: any SingleOperand
    /// The function that is applied to the value of the inner operand.
    private let derivation: Derivation

    var type: OperandType { Derivation.type }
    var label: String { inner.label }
    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    /// Creates the operand that applies a derivation to the value of another one.
    ///
    /// - Parameters:
    ///   - inner: An operand that has exactly one value for every object.
    ///   - derivation: The function applied to that value.
    ///   - quantifier: The quantifier of the result.
    init(_ inner: any SingleOperand, _ derivation: Derivation, quantifier: Quantifier?) {
        self.inner = inner
        self.derivation = derivation
        self.quantifier = quantifier
    }

    func value(_ row: borrowing Row) throws(StorageError) -> Value { try derivation.derive(try inner.value(row)) }

    /// Appends the inner values for the rows of a leaf, then replaces them in place.
    func append(_ leaf: ClusterLeaf, _ rows: Mask, to values: inout [Value]) throws(StorageError) {
        let start = values.count
        try inner.append(leaf, rows, to: &values)
        for index in start..<values.count { values[index] = try derivation.derive(values[index]) }
    }
}
