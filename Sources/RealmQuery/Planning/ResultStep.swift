// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A step that is applied to the matches of a predicate, in the order of the query.
enum ResultStep {
    /// Orders the objects by these keys; the first key decides, ties keep their order.
    case sort([SortKey])
    /// Keeps the first object for each combination of the values of these keys.
    case distinct([SortKey])
    /// Keeps the given number of objects from the start, and removes the rest.
    case limit(Int)
}
