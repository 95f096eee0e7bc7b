// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A number about the values of a property that takes all of them, and not one after the other.
package enum Statistic: Sendable, Hashable {
    /// How many distinct values there are; null is none.
    case distinct
    /// The number at or below which a share of the numbers is, from 0 to 100: 50 is the median. Between two numbers it is
    /// interpolated. The result is a double; nulls and NaNs are left out.
    case percentile(Double)

    /// Returns whether a type has the statistic: any has distinct values, numbers and mixed values have percentiles.
    func takes(_ type: ColumnType) -> Bool {
        switch (self, type) {
        case (.distinct, _), (_, .int), (_, .float), (_, .double), (_, .decimal), (_, .mixed): return true
        default: return false
        }
    }

    /// Throws `QueryError.invalid` with `typeMismatch` unless a type has the statistic.
    ///
    /// - Parameters:
    ///   - path: The key path of the values, for the detail.
    func require(_ type: ColumnType, of path: String) throws(QueryError) {
        guard !takes(type) else { return }
        throw .invalid(
            .typeMismatch, detail: "percentiles are not supported for '\(path)' of type '\(OperandType(type).rawValue)'",
            culprit: path, position: nil)
    }

    /// Returns the percentile of some numbers; nil without any.
    package static func percentile(_ share: Double, of numbers: inout [Double]) -> Double? {
        guard !numbers.isEmpty else { return nil }
        numbers.sort()
        let position = Double(numbers.count - 1) * share / 100
        let index = Int(position.rounded(.down))
        let (low, fraction) = (numbers[index], position - Double(index))
        guard fraction > 0, index + 1 < numbers.count else { return low }
        let high = numbers[index + 1]
        // Infinite numbers have no difference.
        return low == high ? low : low * (1 - fraction) + high * fraction
    }

    /// Returns the number that counts for a percentile; nil for anything else, and for NaN.
    static func number(_ value: Value) -> Double? {
        let number: Double
        switch value {
        case .int(let integer): number = Double(integer)
        case .float(let real): number = Double(real)
        case .double(let real): number = real
        case .decimal(let decimal): number = decimal.doubleValue
        default: return nil
        }
        return number.isNaN ? nil : number
    }
}
