// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What happens to the matches of a predicate, in this order.
enum ResultStep {
    case sort([SortKey])
    case distinct([SortKey])
    case limit(Int)
}
