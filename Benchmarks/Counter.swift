// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import Synchronization
internal import RealmStorage

/// Counts up for requests of several threads, so that each request is a different one.
final class Counter: Sendable {
    /// The number that the next call of `next` returns.
    private let value = Atomic<Int>(0)

    /// Returns the next number, starting with 0. All threads may call it.
    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }
}
