// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An operand that replaces every value of another operand by one that is derived from it, and keeps the groups.
///
/// It implements suffixes such as `.@count` on a mixed value and `.@type` for multi-valued paths.
final class DerivedOperand<Derivation: ValueDerivation>: Operand {
    private(set) var quantifier: Quantifier?
    /// The operand from whose values the results are derived.
    private let inner: any Operand
    /// The function that is applied to each value of the inner operand.
    private let derivation: Derivation

    var type: OperandType { Derivation.type }
    /// The text of the inner operand, which includes the suffix.
    var label: String { inner.label }
    var isMultiValued: Bool { inner.isMultiValued }
    var selectsOne: Bool { inner.selectsOne }
    func demandAny() { quantifier = .any }
    var single: (any SingleOperand)? { nil }

    /// Creates the operand for an inner one that may have several values. Callers use `make`.
    private init(_ inner: any Operand, _ derivation: Derivation, quantifier: Quantifier?) {
        self.inner = inner
        self.derivation = derivation
        self.quantifier = quantifier
    }

    /// Returns the operand that derives its values from those of another one.
    ///
    /// - Parameters:
    ///   - inner: The operand whose values are replaced.
    ///   - derivation: The function applied to each value.
    ///   - quantifier: The quantifier of the result. It is nil for `.@count`, where the language
    ///     ignores quantifiers.
    /// - Returns: A `DerivedSingleOperand` when `inner` has exactly one value, otherwise a
    ///   `DerivedOperand`.
    static func make(_ inner: any Operand, _ derivation: Derivation, quantifier: Quantifier?) -> any Operand {
        guard let single = inner.single else { return DerivedOperand(inner, derivation, quantifier: quantifier) }
        return DerivedSingleOperand(single, derivation, quantifier: quantifier)
    }

    /// Evaluates the inner operand and replaces its values in place.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        try inner.evaluate(row, into: &groups)
        try groups.transform { value throws(StorageError) in try derivation.derive(value) }
    }
}
