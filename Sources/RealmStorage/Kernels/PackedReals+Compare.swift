// SPDX-License-Identifier: Apache-2.0

/// Comparison of a run of numbers with a constant, with either order of NaN.
/// Comparing a run with a constant, in either order of NaN.
///
/// Bit 0 of every mask is the element `start`; a run has at most 256 elements.
extension PackedReals {
    /// Returns the rows among the `count` from `start` on that hold null.
    @inline(__always)
    func nulls(_ start: Int, count: Int) -> Mask {
        checkRun(start, count)
        return unsafe EqualKernel(Real.nullBits).mask(payload, start: start, count: count)
    }

    /// Returns the rows that hold neither null nor another NaN.
    @inline(__always)
    func numbers(_ start: Int, count: Int) -> Mask { test(RealTests.IsNumber.self, 0, start, count: count) }

    /// Returns the rows that compare with `needle` as `op` demands by IEEE 754. Null is unequal to every needle.
    ///
    /// - Parameters:
    ///   - op: The relation of the number to `needle`.
    ///   - needle: The constant, which must not be null.
    ///   - start: The element that bit 0 of the result represents.
    ///   - count: How many elements are compared, at most 256.
    @inline(__always)
    func compare(_ op: Relation, _ needle: Real, _ start: Int, count: Int) -> Mask {
        switch op {
        case .equal: return test(RealTests.IsEqual.self, needle, start, count: count)
        case .notEqual: return test(RealTests.IsEqual.self, needle, start, count: count).inverted(first: count)
        case .less: return test(RealTests.IsLess.self, needle, start, count: count)
        case .lessOrEqual: return test(RealTests.IsLessOrEqual.self, needle, start, count: count)
        case .greater: return test(RealTests.IsGreater.self, needle, start, count: count)
        case .greaterOrEqual: return test(RealTests.IsGreaterOrEqual.self, needle, start, count: count)
        }
    }

    /// Returns the rows that compare with `needle` as `op` demands in the general order, where NaN
    /// is below every number. Null is unequal to every needle.
    ///
    /// - Parameters:
    ///   - op: The relation of the number to `needle`.
    ///   - needle: The constant, which may be NaN but not null.
    ///   - start: The element that bit 0 of the result represents.
    ///   - count: How many elements are compared, at most 256.
    @inline(__always)
    func compareInGeneralOrder(_ op: Relation, _ needle: Real, _ start: Int, count: Int) -> Mask {
        guard !needle.isNaN else { return compare(op, withNaN: needle, start, count: count) }
        guard op == .less || op == .lessOrEqual else { return compare(op, needle, start, count: count) }
        // All elements that are not on the other side are below, NaN included, except for null.
        let notBelow = compare(op.negated, needle, start, count: count)
        return notBelow.inverted(first: count).subtracting(nulls(start, count: count))
    }

    /// Returns the rows that compare with a NaN in the general order: numbers are greater than any
    /// NaN, and NaNs are ordered by their bits as unsigned integers.
    private func compare(_ op: Relation, withNaN needle: Real, _ start: Int, count: Int) -> Mask {
        let numbers = self.numbers(start, count: count)
        let nulls = self.nulls(start, count: count)
        let wanted = Real.Bits.Magnitude(truncatingIfNeeded: needle.packedBits)
        let others = numbers.inverted(first: count).subtracting(nulls).filter { row in
            op.holds(Real.Bits.Magnitude(truncatingIfNeeded: bits(start &+ row)), wanted)
        }
        let withNumbers = op == .greater || op == .greaterOrEqual || op == .notEqual ? others | numbers : others
        return op == .notEqual ? withNumbers | nulls : withNumbers
    }

    /// Runs the kernel for one test over a run.
    @inline(__always)
    private func test<Test: RealTests.Test>(_: Test.Type, _ needle: Real, _ start: Int, count: Int) -> Mask {
        checkRun(start, count)
        return unsafe RealKernel<Real, Test>(needle).mask(payload, start: start, count: count)
    }
}

/// A kernel that finds numbers that pass `Test` against a constant.
///
/// The test is a type, not a value, so that each of the relations becomes a loop of its own without a branch for the relation.
struct RealKernel<Real: PackedReal, Test: RealTests.Test>: MaskKernel {
    /// The constant in all sixteen lanes.
    let needle: SIMD16<Real>

    /// Makes a kernel that compares with `needle`.
    @inline(__always) init(_ needle: Real) { self.needle = SIMD16(repeating: needle) }

    /// The size of an element in bytes.
    @inline(__always) static var elementByteCount: Int { Real.Bits.byteCount }

    /// Tests 64 elements, all readable, from `pointer` on; bit `i` is set where element `i` passes.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(of: lanes(pointer, 0), lanes(pointer, 16), lanes(pointer, 32), lanes(pointer, 48))
    }

    /// Tests sixteen elements from element `index` on.
    @inline(__always) private func lanes(_ pointer: UnsafeRawPointer, _ index: Int) -> ByteLanes {
        let numbers = unsafe pointer.loadUnaligned(fromByteOffset: index &* Real.Bits.byteCount, as: SIMD16<Real>.self)
        return Test.lanes(numbers, needle)
    }
}
