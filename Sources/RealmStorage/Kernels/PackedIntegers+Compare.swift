// SPDX-License-Identifier: Apache-2.0

/// Comparing a run with a constant or with two bounds.
extension PackedIntegers {
    /// What elements of this width can be.
    var range: ClosedRange<Int64> {
        switch widthCode {
        case 0: return 0...0
        case 1: return 0...1
        case 2: return 0...3
        case 3: return 0...15
        case 4: return Int64(Int8.min)...Int64(Int8.max)
        case 5: return Int64(Int16.min)...Int64(Int16.max)
        case 6: return Int64(Int32.min)...Int64(Int32.max)
        default: return .min ... .max
        }
    }

    /// Which of the `count` elements from `start` on compare so with `needle`; bit 0 is element `start`.
    ///
    /// At most 256 elements, all of which exist. About a tenth of a nanosecond per element.
    package func compare(_ op: Relation, _ needle: Int64, start: Int = 0, count: Int) -> Mask {
        checkRun(start, count)
        switch RangedComparison(op, needle, in: range) {
        case .never: return .none
        case .always: return Mask(first: count)
        case .equal(let value, let inverted):
            let mask = equal(value, start, count)
            return inverted ? mask.inverted(first: count) : mask
        case .greater(let value, let inverted):
            let mask = greater(value, start, count)
            return inverted ? mask.inverted(first: count) : mask
        }
    }

    /// Which elements are in `low...high`; none when the bounds are the wrong way round.
    ///
    /// Two comparisons and an "and", so the time is that of `compare` twice, or once when no element reaches the lower bound.
    package func isBetween(_ low: Int64, _ high: Int64, start: Int = 0, count: Int) -> Mask {
        guard low <= high else { return .none }
        let atLeast = compare(.greaterOrEqual, low, start: start, count: count)
        return atLeast.isEmpty ? atLeast : atLeast & compare(.lessOrEqual, high, start: start, count: count)
    }

    /// A run outside the array would be a bug of the caller: counts were checked against each other at attach.
    @inline(__always)
    func checkRun(_ start: Int, _ count: Int) {
        precondition(
            start >= 0 && count >= 0 && count <= Mask.capacity && start <= self.count - count,
            "a run outside its packed array")
    }

    /// `value` is in the range of the width.
    private func equal(_ value: Int64, _ start: Int, _ count: Int) -> Mask {
        switch widthCode {
        case 0, 1, 2, 3: return narrowMask(.equal(value), start, count)
        case 4: return unsafe EqualKernel(Int8(truncatingIfNeeded: value)).mask(payload, start: start, count: count)
        case 5: return unsafe EqualKernel(Int16(truncatingIfNeeded: value)).mask(payload, start: start, count: count)
        case 6: return unsafe EqualKernel(Int32(truncatingIfNeeded: value)).mask(payload, start: start, count: count)
        default: return unsafe EqualKernel(value).mask(payload, start: start, count: count)
        }
    }

    /// `value` is in the range of the width.
    private func greater(_ value: Int64, _ start: Int, _ count: Int) -> Mask {
        switch widthCode {
        case 0, 1, 2, 3: return narrowMask(.greater(value), start, count)
        case 4: return unsafe GreaterKernel(Int8(truncatingIfNeeded: value)).mask(payload, start: start, count: count)
        case 5: return unsafe GreaterKernel(Int16(truncatingIfNeeded: value)).mask(payload, start: start, count: count)
        case 6: return unsafe GreaterKernel(Int32(truncatingIfNeeded: value)).mask(payload, start: start, count: count)
        default: return unsafe GreaterKernel(value).mask(payload, start: start, count: count)
        }
    }
}
