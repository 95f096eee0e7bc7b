// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The constants of a list, of which a value equals one or none. They are found by hash, however many there are.
///
/// Equality is that of `==` in queries. Between a decimal and a binary number it is not transitive, because the latter counts with 15
/// or 7 digits. So decimals are kept apart: each side is compared in the form that the other one takes.
struct ConstantSet {
    /// The constants that are neither decimals nor NaNs.
    private var exact: Set<OrderedValue> = []
    /// The decimals, with which other numbers are compared as decimals.
    private var decimals: Set<OrderedValue> = []
    /// All numbers in the form in which decimals are compared with them.
    private var asDecimals: Set<OrderedValue> = []
    /// The NaNs, each of which equals NaNs with the same bits; there are few.
    private var notNumbers: [Value] = []
    /// The texts and the data in lower case, if letter case is ignored.
    private var folded: (texts: Set<[UInt8]>, data: Set<[UInt8]>)?

    /// Makes the set of constants.
    ///
    /// - Parameters:
    ///   - constants: Any values, whose bytes the query's `ConstantPool` owns.
    ///   - ignoringCase: Whether texts and binary data are equal without regard to letter case.
    init(_ constants: [Value], ignoringCase: Bool) {
        if ignoringCase { folded = ([], []) }
        exact.reserveCapacity(constants.count)
        for constant in constants { insert(constant) }
    }

    /// Adds a constant.
    private mutating func insert(_ constant: Value) {
        if constant.isNaN { return insertNaN(constant) }
        switch constant {
        case .string(let text) where folded != nil: folded?.texts.insert(CaseFolding.folded(text))
        case .binary(let data) where folded != nil: folded?.data.insert(CaseFolding.folded(data))
        case .decimal:
            decimals.insert(OrderedValue(constant))
            asDecimals.insert(OrderedValue(constant))
        default:
            exact.insert(OrderedValue(constant))
            if let decimal = constant.asDecimal { asDecimals.insert(OrderedValue(.decimal(decimal))) }
        }
    }

    /// Adds a NaN unless it is there already.
    private mutating func insertNaN(_ constant: Value) {
        if !containsNaN(constant) { notNumbers.append(constant) }
    }

    /// Returns whether a value equals one of the constants.
    ///
    /// - Complexity: O(length of a text).
    func contains(_ value: Value) -> Bool {
        if value.isNaN { return containsNaN(value) }
        switch value {
        case .string(let text):
            if let folded { return folded.texts.contains(CaseFolding.folded(text)) }
        case .binary(let data):
            if let folded { return folded.data.contains(CaseFolding.folded(data)) }
        case .decimal: return asDecimals.contains(OrderedValue(value))
        default: break
        }
        if exact.contains(OrderedValue(value)) { return true }
        guard !decimals.isEmpty, let decimal = value.asDecimal else { return false }
        return decimals.contains(OrderedValue(.decimal(decimal)))
    }

    /// Returns whether a NaN equals one of the constants.
    private func containsNaN(_ value: Value) -> Bool { notNumbers.contains { Value.areEqual($0, value) } }
}
