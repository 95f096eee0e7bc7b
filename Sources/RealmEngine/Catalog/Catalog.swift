// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmStorage

/// The realms of a server by name.
///
/// A name is reserved before its realm is opened, so that two requests cannot open the same name, and
/// gets its realm or its error when opening has ended. A file is served under one name only: a second
/// realm of the same file is rejected. There is one catalog in a server; all threads may use it.
package final class Catalog: Sendable {
    /// The state of a realm in the catalog.
    package enum State: Sendable {
        /// The realm is being opened; `progress` goes from 0 to 1.
        case opening(progress: Double)
        /// The realm is served.
        case ready(Database)
        /// The realm could not be opened, or was taken out of use.
        case failed(StorageError)
    }

    /// Why a name cannot be given to a realm.
    package enum Failure: Error, Sendable, Equatable {
        /// There is already a realm with this name.
        case alreadyAttached(RealmName)
        /// Another realm serves the same file.
        case fileServed(name: String)
        /// The name is not reserved any more, because the realm was detached meanwhile.
        case detached
    }

    /// Which realms were named by requests only, and the paths of all files.
    let origins: RealmOrigins
    /// The states by the name of the realm. The lock is never held while a file is opened or closed.
    let states = RankedMutex<[String: State]>(.catalog, [:])
    /// The plans for failed realms; this lock is never held together with that of `states`.
    let plans = RankedMutex(.leaf, Plans())

    /// The logger of all realms; see `EngineLog`.
    package let logger: Logger

    /// Makes an empty catalog.
    ///
    /// - Parameters:
    ///   - forgetsAfter: The time after which failed realms that only a request has named are forgotten.
    ///   - logger: The logger of all realms.
    package init(forgetsAfter: Duration = .seconds(600), logger: Logger = EngineLog.silent) {
        origins = RealmOrigins(forgetsAfter: forgetsAfter)
        self.logger = logger
    }

    /// The state of the realm with the given name; nil when there is none.
    package subscript(name: String) -> State? {
        forgetFailed()
        return states.withLock { $0[name] }
    }

    /// The number of realms in any state.
    package var count: Int { states.withLock { $0.count } }

    /// Removes realms that only a request has named and that failed long enough ago.
    private func forgetFailed() {
        for name in origins.takeForgotten() {
            states.withLock { states in
                if case .failed? = states[name] { states[name] = nil }
            }
        }
    }

    /// All realms with their states, ordered by name.
    package var all: [(name: String, state: State)] {
        forgetFailed()
        return states.withLock { states in states.sorted { $0.key < $1.key }.map { (name: $0.key, state: $0.value) } }
    }

    /// Reserves a name for a realm that is about to be opened.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - path: The resolved path of the file; nil for a realm in memory.
    ///   - isRequested: Whether a request has named the realm, rather than the configuration.
    /// - Throws: `Failure.alreadyAttached` when the name is used.
    package func reserve(_ name: RealmName, path: String? = nil, isRequested: Bool = false) throws(Failure) {
        forgetFailed()
        let isFree = states.withLock { states -> Bool in
            guard states[name.text] == nil else { return false }
            states[name.text] = .opening(progress: 0)
            return true
        }
        guard isFree else { throw .alreadyAttached(name) }
        origins.add(name.text, path: path, isRequested: isRequested)
    }

    /// Returns the path of a realm's file, whatever the state of the realm; nil for a realm in memory.
    package func path(of name: String) -> String? { origins.path(of: name) }

    /// Opens a file that the server was started to serve, under a reserved name. One that cannot be
    /// opened is tried again later.
    ///
    /// - Parameters:
    ///   - name: The reserved name.
    ///   - path: The file.
    ///   - options: How it is opened.
    /// - Returns: The new state of the realm. Blocks until opening has ended.
    @discardableResult
    package func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) -> State {
        noteConfigured(name)
        var options = options
        options.logger = logger
        let state = settle(name) { [options] () throws(StorageError) in try Database.open(name: name, path: path, options) }
        if case .failed(let error) = state { plan(name, path, options, after: error) }
        return state
    }

    /// Makes a realm in memory available under a reserved name. Realms with the same identifier share
    /// their data.
    ///
    /// - Parameters:
    ///   - name: The reserved name.
    ///   - identifier: The identifier of the data.
    ///   - options: The limits and names to use.
    @discardableResult
    package func openInMemory(
        _ name: RealmName, identifier: String, _ options: Database.OpenOptions = Database.OpenOptions()
    ) -> State {
        let known = databases.first { $0.memoryIdentifier == identifier }
        var options = options
        options.logger = logger
        return settle(name) { [options] () throws(StorageError) in
            if let known { return known }
            return try Database.openInMemory(name: name, identifier: identifier, options)
        }
    }

    /// Opens a realm, and stores the result as its state. A file that another realm already serves counts
    /// as a failure.
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

    /// Returns the name under which a file is served; private copies of it do not count.
    static func server(of file: System.FileIdentity?, in states: [String: State]) -> String? {
        guard let file else { return nil }
        return states.first { entry in
            guard case .ready(let database) = entry.value else { return false }
            return database.identity == file
        }?.key
    }

    /// Returns the name under which the file at a path is served, also if it was opened by another path;
    /// nil when it is not served or does not exist.
    package func nameServing(path: String) -> String? {
        let file = System.identity(path: path)
        return states.withLock { Catalog.server(of: file, in: $0) }
    }

    /// The databases that are open; a database in memory appears once for each of its names.
    package var databases: [Database] {
        all.compactMap { entry in
            guard case .ready(let database) = entry.state else { return nil }
            return database
        }
    }

    /// Returns the database of the file at a path, which must be the resolved one with which it was
    /// opened.
    package func database(atPath path: String) -> Database? { databases.first { !$0.path.isEmpty && $0.path == path } }

    /// Removes a realm and closes it, unless its database in memory has another name. Blocks until
    /// waiting writes are done.
    package func detach(_ name: String) {
        origins.remove(name)
        let state = states.withLock { $0.removeValue(forKey: name) }
        forgetPlan(name)
        guard case .ready(let database)? = state, !databases.contains(where: { $0 === database }) else { return }
        database.close()
    }

    /// Closes all realms, and stops reopening failed ones. Blocks until waiting writes are done.
    package func closeAll() {
        plans.withLock { plans in
            plans.byName = [:]
            plans.isClosed = true
        }
        let states = states.withLock { states in
            defer { states = [:] }
            return states
        }
        for case .ready(let database) in states.values { database.close() }
    }

    /// Stores the state of a realm with a reserved name.
    ///
    /// - Parameters:
    ///   - name: The reserved name.
    ///   - state: The open database, or the error.
    /// - Throws: `Failure`: `detached` when the name is not reserved any more, `fileServed` when another
    ///   realm serves the file.
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
        if case .failed = state { origins.noteFailure(of: name.text) }
    }

    /// Stores how much of opening a realm is done, from 0 to 1.
    package func setProgress(_ part: Double, of name: RealmName) {
        states.withLock { states in
            guard case .opening? = states[name.text] else { return }
            states[name.text] = .opening(progress: part)
        }
    }

    /// Removes a realm without closing it; requests that hold its snapshots continue.
    package func remove(_ name: String) {
        origins.remove(name)
        let state = states.withLock { $0.removeValue(forKey: name) }
        withExtendedLifetime(state) {}
        forgetPlan(name)
    }

    /// The names of the realms that the server was started to serve but that are not ready.
    package var unready: [String] {
        all.compactMap { entry in
            if case .ready = entry.state { return nil }
            return isConfigured(entry.name) && !origins.isRequested(entry.name) ? entry.name : nil
        }
    }
}
