// SPDX-License-Identifier: Apache-2.0

/// What a kernel asks of sixteen numbers and the constant.
///
/// Implementations have no state: the compiler specialises `RealKernel` for each of them.
protocol RealTest {
    /// Lane by lane, all bits set where a number passes and none where it does not.
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes
}
