// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The state of a realm in the catalog of a server.
package enum RealmState: Sendable {
    /// The realm is being opened; `progress` goes from 0 to 1.
    case opening(progress: Double)
    case ready(Database)
    /// The realm could not be opened, or was taken out of use.
    case failed(StorageError)
    /// The realm is not open, since it was not requested or was idle; the next request opens it.
    case closed(ClosedRealm)

    /// Whether the realm is not open, and the next request opens it.
    package var isClosed: Bool { if case .closed = self { true } else { false } }
    package var isReady: Bool { if case .ready = self { true } else { false } }

    /// Whether the realm takes files and memory.
    package var isOpen: Bool {
        switch self {
        case .opening, .ready: return true
        case .failed, .closed: return false
        }
    }

    /// The path of the file of an open realm; nil for all others.
    package var openPath: String? {
        guard case .ready(let database) = self else { return nil }
        return database.path
    }
}
