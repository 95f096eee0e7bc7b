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

    /// Opens a file under a reserved name as the options say; the outcome becomes the state of the realm.
    @discardableResult
    package func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) -> State {
        settle(name) { () throws(StorageError) in try Database.open(name: name, path: path, options) }
    }

    /// Makes a realm in memory available under a reserved name. The same identifier means the same data.
    @discardableResult
    package func openInMemory(
        _ name: RealmName, identifier: String, _ options: Database.OpenOptions = Database.OpenOptions()
    ) -> State {
        let known = databases.first { $0.memoryIdentifier == identifier }
        return settle(name) { () throws(StorageError) in
            if let known { return known }
            return try Database.openInMemory(name: name, identifier: identifier, options)
        }
    }

    private func settle(_ name: RealmName, _ open: () throws(StorageError) -> Database) -> State {
        let state: State
        do throws(StorageError) {
            state = .ready(try open())
        } catch {
            state = .failed(error)
        }
        states.withLock { $0[name.text] = state }
        return state
    }

    /// The databases that are open; one in memory may have several names.
    package var databases: [Database] {
        all.compactMap { entry in
            guard case .ready(let database) = entry.state else { return nil }
            return database
        }
    }

    /// The realm that serves the file at this path, as it was resolved when it was opened.
    package func database(atPath path: String) -> Database? { databases.first { !$0.path.isEmpty && $0.path == path } }

    /// Forgets a realm and closes it, unless it is in memory and has another name. Blocks until its writes are done.
    package func detach(_ name: String) {
        let state = states.withLock { $0.removeValue(forKey: name) }
        guard case .ready(let database)? = state, !databases.contains(where: { $0 === database }) else { return }
        database.close()
    }

    /// Closes all realms. Blocks until their writes are done.
    package func closeAll() {
        let databases = databases
        states.withLock { $0 = [:] }
        for database in databases { database.close() }
    }

    /// Gives a reserved name its realm; false when the name is no longer reserved.
    package func settle(_ name: RealmName, _ state: State) -> Bool {
        states.withLock { states in
            guard case .opening? = states[name.text] else { return false }
            states[name.text] = state
            return true
        }
    }

    /// Tells how much of opening a realm is done, from 0 to 1.
    package func setProgress(_ part: Double, of name: RealmName) {
        states.withLock { states in
            guard case .opening? = states[name.text] else { return }
            states[name.text] = .opening(progress: part)
        }
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
