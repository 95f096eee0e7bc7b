// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Why a realm cannot be followed any further. It has to be closed; all but `missing` may be opened again at once.
package enum ReplicaEnd: Sendable, Equatable {
    /// The log does not know the realm any more.
    case missing
    /// The log has another history, with versions of numbers that were used already: of a realm that was restored, or of a log
    /// that has lost what was seen of it.
    case replaced
    /// The file was closed, or another program has changed it.
    case file(StorageError)
}
