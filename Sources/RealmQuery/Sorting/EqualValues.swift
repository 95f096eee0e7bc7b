// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds equal values among mixed ones, whose equality is not transitive: next to a float a decimal has 7 digits, next to a double 15.
enum EqualValues {
    /// Numbers values, so that equal ones have the same number.
    ///
    /// In exact order, each value that equals the least of a class belongs to it. So the classes do not depend on the order of the
    /// values.
    ///
    /// - Parameters:
    ///   - continues: Is called for each comparison and returns whether to continue. After it has returned false, the numbers are
    ///     meaningless.
    ///   - value: Returns the value at a position.
    /// - Complexity: O(n log n) for n values.
    static func numbers(_ count: Int, while continues: (Value) -> Bool, _ value: (Int) -> Value) -> [Int32] {
        let order = (0..<count).sorted { left, right in
            let leftValue = value(left)
            return continues(leftValue) && SortKey.order(leftValue, value(right)) < 0
        }
        var numbers = [Int32](repeating: 0, count: count)
        var (number, least) = (Int32(-1), Value.missing)
        for position in order {
            let next = value(position)
            if number < 0 || next.isMissing != least.isMissing || Value.order(least, next) != 0 {
                number += 1
                least = next
            }
            numbers[position] = number
        }
        return numbers
    }
}
