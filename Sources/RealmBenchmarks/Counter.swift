// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmHTTP
internal import RealmStorage
internal import Synchronization

/// Numbers for requests of several threads.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }
}
