// SPDX-License-Identifier: Apache-2.0

/// One operation on a collection.
package enum CollectionChange: Sendable, Equatable {
    case insert(Int)
    case set(Int)
    case erase(Int)
    case move(from: Int, to: Int)
    /// All elements went; `count` is how many there were.
    case clear(count: Int)
}
