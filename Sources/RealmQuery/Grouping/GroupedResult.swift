// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The groups of a result: the values that their rows have in common, how many rows they have, and
/// what was calculated of them. Values borrow from the snapshot that was read.
package struct GroupedResult {
    /// For each key path the value of each group.
    package let keys: [[Value]]
    /// How many rows each group has.
    package let sizes: [Int]
    package let results: [[AggregateResult]]
    /// The bytes of keys that are not in the snapshot.
    package var owners: [ByteStorage] = []

    /// Something that groups have, by which they can be sorted.
    package enum Column: Sendable, Equatable {
        /// The value of a key path, by its index.
        case key(Int)
        /// The number of rows.
        case size
        /// An aggregate, by its index.
        case aggregate(Int)
    }

    /// A column by which groups are sorted, with its direction.
    package struct SortTerm: Sendable {
        /// The compared column.
        package let column: Column
        /// Whether smaller values come first.
        package let isAscending: Bool

        /// Creates a term of an order of groups.
        package init(_ column: Column, isAscending: Bool) {
            self.column = column
            self.isAscending = isAscending
        }
    }

    /// Returns the indexes of the groups in an order; groups that are equal in all terms keep the order of their first rows.
    ///
    /// - Parameters:
    ///   - terms: The order, the most significant term first.
    ///   - continues: Is called for each comparison and returns whether to continue. After it has returned false, the order is
    ///     meaningless.
    /// - Complexity: O(n log n) in the number of groups.
    package func order(by terms: [SortTerm], while continues: () -> Bool) -> [Int] {
        guard !terms.isEmpty else { return Array(sizes.indices) }
        return sizes.indices.sorted { left, right in
            guard continues() else { return false }
            for term in terms {
                let order = compare(left, right, by: term.column)
                if order != 0 { return term.isAscending ? order < 0 : order > 0 }
            }
            return left < right
        }
    }

    /// Compares two groups: negative, zero or positive. A sum that overflowed is greater than all others.
    private func compare(_ left: Int, _ right: Int, by column: Column) -> Int {
        switch column {
        case .key(let index): return Value.exactOrder(keys[index][left], keys[index][right])
        case .size: return sizes[left] < sizes[right] ? -1 : sizes[left] == sizes[right] ? 0 : 1
        case .aggregate(let index):
            switch (results[index][left], results[index][right]) {
            case (.value(let left), .value(let right)): return Value.exactOrder(left, right)
            case (.overflow, .overflow): return 0
            case (.overflow, .value): return 1
            case (.value, .overflow): return -1
            }
        }
    }
}
