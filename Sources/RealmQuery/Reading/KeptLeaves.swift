// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The number of leaves to keep by readers whose rows are scattered in a class.
enum KeptLeaves {
    /// The number of slots at first.
    private static let fewest = 64
    /// The greatest number of slots, with which a reader takes about 3 MB.
    private static let most = 1 << 14

    /// Counts a leaf that was not among the kept ones, and returns the number of slots if there should be another one, a power of two.
    ///
    /// There are more when each slot has been filled several times, but never more than the class has leaves.
    ///
    /// - Parameters:
    ///   - count: The present number of slots, 0 for none.
    ///   - misses: The number of leaves that were not kept since the last growth.
    ///   - objectCount: The number of objects of the class.
    static func grownCount(from count: Int, misses: inout Int, objectCount: Int) -> Int? {
        misses += 1
        if count == 0 { return fewest }
        guard misses > 4 * count, count < most, count * 256 < objectCount else { return nil }
        misses = 0
        return count * 8
    }
}
