// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Sorts rows by unsigned numbers without comparisons, digit by digit from the lowest digit up. The sort is stable.
enum DigitSort {
    /// The number of bits of a digit; each pass distributes the rows to 2048 buckets.
    private static let digitBits = 11

    /// Sorts rows by their keys. Rows with equal keys keep their order.
    ///
    /// - Parameters:
    ///   - order: The rows in their present order, as indexes of `keys`.
    ///   - keys: The key of each row.
    ///   - isAscending: Whether smaller keys come first.
    /// - Returns: The rows in the new order.
    /// - Complexity: O(n) for n rows and each digit by which the keys differ; O(n log n) when their
    ///   differences exceed 64 bits.
    static func sorted(_ order: [UInt32], by keys: [OrderKey], isAscending: Bool) -> [UInt32] {
        guard let least = keys.min(), let greatest = keys.max(), least != greatest else { return order }
        let range = greatest.rawValue - least.rawValue
        guard let bits = UInt64(exactly: range).map({ 64 - $0.leadingZeroBitCount }) else {
            return order.enumerated().sorted { left, right in
                let leftKey = keys[Int(left.element)]
                let rightKey = keys[Int(right.element)]
                if leftKey != rightKey { return (leftKey < rightKey) == isAscending }
                return left.offset < right.offset
            }.map(\.element)
        }
        // As distances from the key that comes first, all keys fit into 64 bits.
        var digits = [UInt64](repeating: 0, count: keys.count)
        for row in keys.indices {
            let distance = isAscending ? keys[row].rawValue - least.rawValue : greatest.rawValue - keys[row].rawValue
            digits[row] = UInt64(truncatingIfNeeded: distance)
        }
        return sorted(order, by: digits, bitCount: bits)
    }

    /// Sorts rows by numbers of `bitCount` bits. A digit that is the same in all rows is skipped.
    private static func sorted(_ order: [UInt32], by digits: [UInt64], bitCount: Int) -> [UInt32] {
        var source = order
        var target = order
        let buckets = 1 << digitBits
        for shift in stride(from: 0, to: bitCount, by: digitBits) {
            var starts = [Int](repeating: 0, count: buckets + 1)
            for row in source { starts[Int(truncatingIfNeeded: digits[Int(row)] >> UInt64(shift)) & (buckets - 1) + 1] += 1 }
            if starts.contains(source.count) { continue }
            for bucket in 1...buckets { starts[bucket] += starts[bucket - 1] }
            for row in source {
                let bucket = Int(truncatingIfNeeded: digits[Int(row)] >> UInt64(shift)) & (buckets - 1)
                target[starts[bucket]] = row
                starts[bucket] += 1
            }
            swap(&source, &target)
        }
        return source
    }
}
