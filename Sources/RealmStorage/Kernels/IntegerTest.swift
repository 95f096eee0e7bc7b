// SPDX-License-Identifier: Apache-2.0

/// A comparison with a constant as a range of integers, so that each of a few integers is tested with one comparison.
package struct IntegerTest: Sendable {
    /// The lowest integer of the range.
    private let low: Int64
    /// The distance from the lowest to the greatest integer of the range.
    private let span: UInt64
    /// Whether integers in the range pass, rather than those outside.
    private let isInside: Bool

    /// Makes a test.
    ///
    /// - Parameters:
    ///   - outcome: Whether integers pass for which the relation holds, rather than those for which it does not.
    package init(_ relation: Relation, _ constant: Int64, outcome: Bool) {
        let range: ClosedRange<Int64>? =
            switch relation {
            case .equal, .notEqual: constant...constant
            case .less: constant == .min ? nil : .min...(constant - 1)
            case .lessOrEqual: .min...constant
            case .greater: constant == .max ? nil : (constant + 1)...(.max)
            case .greaterOrEqual: constant...(.max)
            }
        // Nothing is in the range that is missing, as nothing is outside of the range of all.
        let whole = range ?? Int64.min...Int64.max
        low = whole.lowerBound
        span = UInt64(bitPattern: whole.upperBound &- whole.lowerBound)
        isInside = ((relation == .notEqual) == (range == nil)) == outcome
    }

    @inline(__always)
    package func passes(_ integer: Int64) -> Bool { (UInt64(bitPattern: integer &- low) <= span) == isInside }
}

extension PackedIntegers {
    /// Returns whether one of the elements passes a test. For arrays of a few elements, of which the search of 64 at a time is slower.
    func hasElement(_ test: IntegerTest) -> Bool {
        switch widthCode {
        case 4: return hasElement(Int8.self, test)
        case 5: return hasElement(Int16.self, test)
        case 6: return hasElement(Int32.self, test)
        case 7: return hasElement(Int64.self, test)
        default:
            for index in 0..<count where test.passes(self[index]) { return true }
            return false
        }
    }

    /// Returns whether one of the elements, which have the size of `Element`, passes a test.
    @inline(__always)
    private func hasElement<Element: PackedElement>(_: Element.Type, _ test: IntegerTest) -> Bool {
        for index in 0..<count where test.passes(Int64(element(index, as: Element.self))) { return true }
        return false
    }

    /// Returns the sum of the elements, which wraps around at 64 bits. For arrays of a few elements.
    func wrappingSum() -> Int64 {
        switch widthCode {
        case 4: return wrappingSum(Int8.self)
        case 5: return wrappingSum(Int16.self)
        case 6: return wrappingSum(Int32.self)
        case 7: return wrappingSum(Int64.self)
        default:
            var sum: Int64 = 0
            for index in 0..<count { sum &+= self[index] }
            return sum
        }
    }

    /// Returns the sum of the elements, which have the size of `Element`.
    @inline(__always)
    private func wrappingSum<Element: PackedElement>(_: Element.Type) -> Int64 {
        var sum: Int64 = 0
        for index in 0..<count { sum &+= Int64(element(index, as: Element.self)) }
        return sum
    }

    /// Reads an element of 8 bits or more; there must be one.
    @inline(__always)
    private func element<Element: PackedElement>(_ index: Int, as _: Element.Type) -> Element {
        assert(index >= 0 && index < count)
        return unsafe Element(
            littleEndian: payload.loadUnaligned(fromByteOffset: index &* Element.byteCount, as: Element.self))
    }
}
