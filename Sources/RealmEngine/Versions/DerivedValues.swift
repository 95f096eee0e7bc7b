// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What other layers derive from a version and want to keep for as long as the version is kept: at most one value of
/// each type, made when it is first asked for.
///
/// All threads may ask. Values guard their own state.
package final class DerivedValues: Sendable {
    /// The values so far; the lock is a leaf.
    private let values = RankedMutex<[any AnyObject & Sendable]>(.leaf, [])

    /// Without any value yet.
    init() {}

    /// The value of this type. `make` is called under the lock, so it must not ask for another value or wait.
    package func value<Value: AnyObject & Sendable>(makingIfMissing make: () -> Value) -> Value {
        values.withLock { values in
            // There are one or two, so looking through them costs less than hashing a type.
            for case let known as Value in values { return known }
            let made = make()
            values.append(made)
            return made
        }
    }
}
