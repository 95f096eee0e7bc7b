// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

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
        /// Another realm serves the same file.
        case fileServed(name: String)
        /// The name is no longer reserved.
        case detached
    }

    private let states = RankedMutex<[String: State]>(.catalog, [:])

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
        do throws(StorageError) {
            let database = try open()
            let other = states.withLock { states -> String? in
                if let other = Catalog.server(of: database.identity, in: states) { return other }
                states[name.text] = .ready(database)
                return nil
            }
            guard let other else { return .ready(database) }
            database.close()
            throw .refused(.fileInUse("the file is served as '\(other)' already"))
        } catch {
            states.withLock { $0[name.text] = .failed(error) }
            return .failed(error)
        }
    }

    /// The name under which a file is served, but for private copies of it.
    private static func server(of file: System.FileIdentity?, in states: [String: State]) -> String? {
        guard let file else { return nil }
        return states.first { entry in
            guard case .ready(let database) = entry.value else { return false }
            return database.identity == file
        }?.key
    }

    /// The name under which the file at this path is served, also by another path; nil too when there is no such file.
    package func nameServing(path: String) -> String? {
        let file = System.identity(path: path)
        return states.withLock { Catalog.server(of: file, in: $0) }
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
        let states = states.withLock { states in
            defer { states = [:] }
            return states
        }
        for case .ready(let database) in states.values { database.close() }
    }

    /// Gives a reserved name its realm. Throws when the name is no longer reserved, or the file served by another realm.
    package func settle(_ name: RealmName, _ state: State) throws(Failure) {
        let failure = states.withLock { states -> Failure? in
            guard case .opening? = states[name.text] else { return .detached }
            if case .ready(let database) = state, let other = Catalog.server(of: database.identity, in: states) {
                return .fileServed(name: other)
            }
            states[name.text] = state
            return nil
        }
        if let failure { throw failure }
    }

    /// Tells how much of opening a realm is done, from 0 to 1.
    package func setProgress(_ part: Double, of name: RealmName) {
        states.withLock { states in
            guard case .opening? = states[name.text] else { return }
            states[name.text] = .opening(progress: part)
        }
    }

    /// Forgets a realm; requests that hold its snapshots go on.
    package func remove(_ name: String) {
        let state = states.withLock { $0.removeValue(forKey: name) }
        withExtendedLifetime(state) {}
    }

    package var count: Int { states.withLock { $0.count } }

    /// Names of realms that are not ready.
    package var unready: [String] {
        states.withLock { states in
            states.compactMap { entry in
                if case .ready = entry.value { return nil }
                return entry.key
            }
        }.sorted()
    }
}
