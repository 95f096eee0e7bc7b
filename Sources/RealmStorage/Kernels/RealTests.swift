// SPDX-License-Identifier: Apache-2.0

/// The tests of `RealKernel`: what is asked of each number and the constant, by IEEE 754.
enum RealTests {
    /// The number equals the constant; a NaN equals nothing.
    enum IsEqual: RealTest {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.equal(numbers, needle)
        }
    }

    /// The number is less than the constant; a NaN is neither.
    enum IsLess: RealTest {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.less(numbers, needle)
        }
    }

    /// The number is less than the constant or equal to it.
    enum IsLessOrEqual: RealTest {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.lessOrEqual(numbers, needle)
        }
    }

    /// The number is greater than the constant.
    enum IsGreater: RealTest {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.less(needle, numbers)
        }
    }

    /// The number is greater than the constant or equal to it.
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
}
