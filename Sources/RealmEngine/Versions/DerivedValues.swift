// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Values that other layers derive from an object, such as a version, and keep as long as it: at most one of each type.
///
/// Each value is made when it is first requested. All threads may request values, and the values guard their own state.
package final class DerivedValues: Sendable {
    /// The values so far; the lock is a leaf.
    private let values = RankedMutex<[any AnyObject & Sendable]>(.leaf, [])

    /// Makes a store without any values.
    package init() {}

    /// Returns the value of the given type, and makes it if there is none.
    ///
    /// - Parameter make: Makes the value. It is called under the lock, so it must neither request another
    ///   value nor wait.
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
