// SPDX-License-Identifier: Apache-2.0

/// The tests of `RealKernel`: relations of a number to the constant by IEEE 754.
enum RealTests {
    /// Passes numbers that equal the constant; a NaN equals nothing.
    enum IsEqual: RealTests.Test {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.equal(numbers, needle)
        }
    }

    /// Passes numbers that are less than the constant; a NaN never passes.
    enum IsLess: RealTests.Test {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.less(numbers, needle)
        }
    }

    /// Passes numbers that are less than the constant or equal to it.
    enum IsLessOrEqual: RealTests.Test {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.lessOrEqual(numbers, needle)
        }
    }

    /// Passes numbers that are greater than the constant.
    enum IsGreater: RealTests.Test {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.less(needle, numbers)
        }
    }

    /// Passes numbers that are greater than the constant or equal to it.
    enum IsGreaterOrEqual: RealTests.Test {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.lessOrEqual(needle, numbers)
        }
    }

    /// Passes every number that is not a NaN, by comparing it with itself; the constant does not matter.
    enum IsNumber: RealTests.Test {
        @inline(__always)
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes {
            Real.equal(numbers, numbers)
        }
    }
}

extension RealTests {
    /// A test of sixteen numbers against the constant of a kernel.
    ///
    /// Implementations have no state: the compiler specializes `RealKernel` for each of them.
    protocol Test {
        /// Returns lanes of all bits where a number passes and of none where it does not.
        static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes
    }
}
