// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A value as a member of a set or a key of a dictionary, equal by the total order of values.
///
/// It borrows the bytes of its value. See `Value.hashByOrder` for the one pair of types whose
/// hashes may differ for equal values.
package struct OrderedValue: Hashable, Comparable, Sendable {
    package let value: Value

    /// Wraps `value`; nothing is copied.
    @inlinable package init(_ value: Value) { self.value = value }

    /// Returns whether both values are equal in the total order, whatever their types.
    @inlinable package static func == (left: OrderedValue, right: OrderedValue) -> Bool {
        Value.order(left.value, right.value) == 0
    }

    /// Returns whether `left` sorts before `right` in the total order.
    @inlinable package static func < (left: OrderedValue, right: OrderedValue) -> Bool {
        Value.order(left.value, right.value) < 0
    }

    /// Feeds a hash that is the same for values that are equal in the total order.
    package func hash(into hasher: inout Hasher) { value.hashByOrder(into: &hasher) }
}
