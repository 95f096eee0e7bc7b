// SPDX-License-Identifier: Apache-2.0

/// What a kernel asks of sixteen numbers and the constant.
protocol RealTest {
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes
}
