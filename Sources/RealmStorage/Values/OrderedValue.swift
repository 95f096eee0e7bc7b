// SPDX-License-Identifier: Apache-2.0

/// A value as a member of a set or a key of a dictionary; equal by the total order.
///
/// It borrows the bytes of its value. See `Value.hashByOrder` for the one pair of types that it cannot tell.
package struct OrderedValue: Hashable, Comparable, Sendable {
    package let value: Value

    @inlinable package init(_ value: Value) { self.value = value }

    @inlinable package static func == (left: OrderedValue, right: OrderedValue) -> Bool {
        Value.order(left.value, right.value) == 0
    }

    @inlinable package static func < (left: OrderedValue, right: OrderedValue) -> Bool {
        Value.order(left.value, right.value) < 0
    }

    package func hash(into hasher: inout Hasher) { value.hashByOrder(into: &hasher) }
}
