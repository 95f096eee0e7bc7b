// SPDX-License-Identifier: Apache-2.0

/// The tests of `RealKernel`: what is asked of each number and the constant, by IEEE 754.
enum RealTests {
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
}
