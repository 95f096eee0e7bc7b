// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmStorage

/// The realms of a server by name.
///
/// A name is reserved before its realm is opened, so that two requests cannot open the same name, and gets its realm or its
/// failure when opening has ended. One file is served under one name only: a second realm of the same file is refused.
package final class Catalog: Sendable {
    /// What is known of a realm.
    package enum State: Sendable {
        /// Being opened; `progress` goes from 0 to 1.
        case opening(progress: Double)
        case ready(Database)
        case failed(StorageError)
    }

    /// Why a name cannot be given to a realm.
    package enum Failure: Error, Sendable, Equatable {
        /// There is a realm of this name.
        case alreadyAttached(RealmName)
        /// Another realm serves the same file.
        case fileServed(name: String)
        /// The name is no longer reserved.
        case detached
    }

    /// Which realms were named by a request only, and where the files of all are.
    let origins: RealmOrigins
    /// What is known of each realm, by its name. The lock is never held while a file is opened or closed.
    let states = RankedMutex<[String: State]>(.catalog, [:])
    /// How failed realms are opened again; never held together with `states`.
    let plans = RankedMutex(.leaf, Plans())

    /// Where all realms log; see `EngineLog`.
    package let logger: Logger

    /// Realms that failed and that only a request has named are forgotten after `forgetsAfter`.
    package init(forgetsAfter: Duration = .seconds(600), logger: Logger = EngineLog.silent) {
        origins = RealmOrigins(forgetsAfter: forgetsAfter)
        self.logger = logger
    }

    /// The state of the realm of that name, or nil when there is none.
    package subscript(name: String) -> State? {
        forgetFailed()
        return states.withLock { $0[name] }
    }

    /// How many realms there are.
    package var count: Int { states.withLock { $0.count } }

    /// Forgets the realms that failed long enough ago and that only a request has named.
    private func forgetFailed() {
        for name in origins.takeForgotten() {
            states.withLock { states in
                if case .failed? = states[name] { states[name] = nil }
            }
        }
    }

    /// All realms, by name.
    package var all: [(name: String, state: State)] {
        forgetFailed()
        return states.withLock { states in states.sorted { $0.key < $1.key }.map { (name: $0.key, state: $0.value) } }
    }

    /// Claims a name for a realm that is about to be opened, from the file at `path` if it has one.
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

    /// Where the file of a realm is, as far as it has one, whatever became of it.
    package func path(of name: String) -> String? { origins.path(of: name) }

    /// Opens a file that the server is to serve under a reserved name; the outcome becomes the state of the realm. One that
    /// cannot be opened is opened again later.
    @discardableResult
    package func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) -> State {
        noteConfigured(name)
        var options = options
        options.logger = logger
        let state = settle(name) { [options] () throws(StorageError) in try Database.open(name: name, path: path, options) }
        if case .failed(let error) = state { plan(name, path, options, after: error) }
        return state
    }

    /// Makes a realm in memory available under a reserved name. The same identifier means the same data.
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

    /// Runs `open` and makes its outcome the state of the realm. A file that another realm serves already counts as a failure.
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
    static func server(of file: System.FileIdentity?, in states: [String: State]) -> String? {
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
        origins.remove(name)
        let state = states.withLock { $0.removeValue(forKey: name) }
        forgetPlan(name)
        guard case .ready(let database)? = state, !databases.contains(where: { $0 === database }) else { return }
        database.close()
    }

    /// Closes all realms. Blocks until their writes are done.
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
        if case .failed = state { origins.noteFailure(of: name.text) }
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
        origins.remove(name)
        let state = states.withLock { $0.removeValue(forKey: name) }
        withExtendedLifetime(state) {}
        forgetPlan(name)
    }

    /// Names of realms that are not ready, of those that the server was started to serve.
    package var unready: [String] {
        all.compactMap { entry in
            if case .ready = entry.state { return nil }
            return isConfigured(entry.name) && !origins.isRequested(entry.name) ? entry.name : nil
        }
    }
}
