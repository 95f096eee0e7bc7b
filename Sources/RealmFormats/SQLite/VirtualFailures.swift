// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The first error of the tables of a database.
final class VirtualFailures {
    /// The error; nil as long as there is none.
    private(set) var first: (any Error)?

    /// Notes an error, unless there was one before.
    func note(_ error: any Error) { if first == nil { first = error } }
}
