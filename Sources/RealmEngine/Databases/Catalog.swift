// SPDX-License-Identifier: Apache-2.0

package import RealmStorage
internal import Synchronization

/// The realms of a server by name.
package final class Catalog: Sendable {
    /// What is known of a realm.
    package enum State: Sendable {
        /// Being opened; `progress` goes from 0 to 1.
        case opening(progress: Double)
        case ready(Database)
        case failed(StorageError)
    }

    package enum Failure: Error, Sendable, Equatable {
        case alreadyAttached(RealmName)
    }

    private let states = Mutex<[String: State]>([:])

    package init() {}

    /// The state of the realm of that name, or nil when there is none.
    package subscript(name: String) -> State? { states.withLock { $0[name] } }

    /// All realms, by name.
    package var all: [(name: String, state: State)] {
        states.withLock { states in states.sorted { $0.key < $1.key }.map { (name: $0.key, state: $0.value) } }
    }

    /// Claims a name for a realm that is about to be opened.
    package func reserve(_ name: RealmName) throws(Failure) {
        let isFree = states.withLock { states -> Bool in
            guard states[name.text] == nil else { return false }
            states[name.text] = .opening(progress: 0)
            return true
        }
        guard isFree else { throw .alreadyAttached(name) }
    }

    /// Opens a file under a reserved name; the outcome becomes the state of the realm.
    @discardableResult
    package func open(
        _ name: RealmName, path: String, key: EncryptionKey?, backlinkNames: BacklinkNames = .none
    ) -> State {
        let state: State
        do throws(StorageError) {
            state = .ready(try Database(name: name, path: path, key: key, backlinkNames: backlinkNames))
        } catch {
            state = .failed(error)
        }
        states.withLock { $0[name.text] = state }
        return state
    }

    /// Forgets a realm; requests that hold its snapshots go on.
    package func remove(_ name: String) { states.withLock { $0[name] = nil } }

    /// Names of realms that are not ready.
    package var unready: [String] {
        all.compactMap { entry in
            if case .ready = entry.state { return nil }
            return entry.name
        }
    }
}
