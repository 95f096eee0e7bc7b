// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The way of finding the rows of a request.
struct VirtualPlan {
    /// The number that a cursor begins with.
    var number = 0
    /// The positions of the used constraints, in the order of their values.
    var uses: [Int] = []
    /// The plan for people.
    var text = ""
    /// The estimated work, in rows that are read.
    var cost = 1.0
    /// The estimated number of found rows.
    var rows: Int64 = 1
    /// Whether there is one row at most.
    var isUnique = false
    /// Whether rows are found in the wanted order.
    var isOrdered = false
}
