// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A test of sixteen numbers against the constant of a kernel.
///
/// Implementations have no state: the compiler specializes `RealKernel` for each of them.
protocol RealTest {
    /// Returns lanes of all bits where a number passes and of none where it does not.
    static func lanes<Real: PackedReal>(_ numbers: SIMD16<Real>, _ needle: SIMD16<Real>) -> ByteLanes
}
