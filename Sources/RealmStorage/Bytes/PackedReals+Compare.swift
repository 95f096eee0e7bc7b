// SPDX-License-Identifier: Apache-2.0

/// What a kernel asks of sixteen numbers and the constant.
protocol RealTest {
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes
}

enum IsEqual: RealTest {
    @inline(__always)
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
        Real.equal(numbers, needle)
    }
}

enum IsLess: RealTest {
    @inline(__always)
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
        Real.less(numbers, needle)
    }
}

enum IsLessOrEqual: RealTest {
    @inline(__always)
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
        Real.lessOrEqual(numbers, needle)
    }
}

enum IsGreater: RealTest {
    @inline(__always)
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
        Real.less(needle, numbers)
    }
}

enum IsGreaterOrEqual: RealTest {
    @inline(__always)
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
        Real.lessOrEqual(needle, numbers)
    }
}

/// Anything but a NaN equals itself; the constant does not matter.
enum IsNumber: RealTest {
    @inline(__always)
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
        Real.equal(numbers, numbers)
    }
}

struct RealKernel<Real: PackedReal, Test: RealTest>: MaskKernel {
    let needle: SIMD16<Real>

    @inline(__always) init(_ needle: Real) { self.needle = SIMD16(repeating: needle) }

    @inline(__always) static var elementByteCount: Int { Real.Bits.byteCount }

    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(lanes(pointer, 0), lanes(pointer, 16), lanes(pointer, 32), lanes(pointer, 48))
    }

    @inline(__always) private func lanes(_ pointer: UnsafeRawPointer, _ index: Int) -> ByteLanes {
        let numbers = unsafe pointer.loadUnaligned(fromByteOffset: index &* Real.Bits.byteCount, as: SIMD16<Real>.self)
        return Test.lanes(numbers, needle)
    }
}

extension PackedReals {
    /// The rows among `count` from `start` on, at most 256, that hold null.
    @inline(__always)
    func nulls(_ start: Int, _ count: Int) -> Mask {
        checkRun(start, count)
        return unsafe EqualKernel(Real.nullBits).mask(payload, start: start, count: count)
    }

    /// The rows that hold neither null nor another NaN.
    @inline(__always)
    func numbers(_ start: Int, _ count: Int) -> Mask { test(IsNumber.self, 0, start, count) }

    /// The rows that compare so with `needle` by IEEE 754. Null is not equal to any needle.
    @inline(__always)
    func compare(_ op: Relation, _ needle: Real, _ start: Int, _ count: Int) -> Mask {
        switch op {
        case .equal: return test(IsEqual.self, needle, start, count)
        case .notEqual: return test(IsEqual.self, needle, start, count).inverted(first: count)
        case .less: return test(IsLess.self, needle, start, count)
        case .lessOrEqual: return test(IsLessOrEqual.self, needle, start, count)
        case .greater: return test(IsGreater.self, needle, start, count)
        case .greaterOrEqual: return test(IsGreaterOrEqual.self, needle, start, count)
        }
    }

    /// The rows that compare so with `needle` in the general order. Null is not equal to any needle.
    @inline(__always)
    func compareInGeneralOrder(_ op: Relation, _ needle: Real, _ start: Int, _ count: Int) -> Mask {
        guard !needle.isNaN else { return compare(op, withNaN: needle, start, count) }
        guard op == .less || op == .lessOrEqual else { return compare(op, needle, start, count) }
        // Whatever is not on the other side is below, NaN included, but for null.
        let notBelow = compare(op.negated, needle, start, count)
        return notBelow.inverted(first: count).subtracting(nulls(start, count))
    }

    /// Numbers are greater than any NaN; NaNs are ordered by their bits, unsigned.
    private func compare(_ op: Relation, withNaN needle: Real, _ start: Int, _ count: Int) -> Mask {
        let numbers = self.numbers(start, count)
        let nulls = self.nulls(start, count)
        let wanted = Real.Bits.Magnitude(truncatingIfNeeded: needle.packedBits)
        let others = numbers.inverted(first: count).subtracting(nulls).filter { row in
            op.holds(Real.Bits.Magnitude(truncatingIfNeeded: bits(start &+ row)), wanted)
        }
        let withNumbers = op == .greater || op == .greaterOrEqual || op == .notEqual ? others | numbers : others
        return op == .notEqual ? withNumbers | nulls : withNumbers
    }

    @inline(__always)
    private func test<Test: RealTest>(_: Test.Type, _ needle: Real, _ start: Int, _ count: Int) -> Mask {
        checkRun(start, count)
        return unsafe RealKernel<Real, Test>(needle).mask(payload, start: start, count: count)
    }
}
