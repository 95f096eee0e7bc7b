// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmEngine
package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The realms of a server by name.
///
/// A name is reserved before its realm is opened, so that two requests cannot open the same name, and
/// gets its realm or its error when opening has ended. A file is served under one name only: a second
/// realm of the same file is rejected. There is one catalog in a server; all threads may use it.
package final class Catalog: Sendable {
    package typealias State = RealmState

    /// The reason why a name cannot be given to a realm.
    package enum Failure: Error, Sendable, Equatable {
        case alreadyAttached(RealmName)
        /// Another realm serves the same file.
        case fileServed(name: String)
        /// The name is no longer reserved, because the realm was detached in the meantime.
        case detached
    }

    /// Which realms were named by requests only, and the paths of all files.
    let origins: RealmOrigins
    /// The states by the name of the realm. The lock is never held while a file is opened or closed.
    let states = RankedMutex(.catalog, RealmStates())
    /// The plans for failed realms; this lock is never held together with that of `states`.
    let plans = RankedMutex(.leaf, Plans())
    /// The realms that are being opened or closed because of their use.
    let transitions = RankedMutex(.leaf, Transitions())
    /// The openings in progress, which detaching cancels.
    let running = RunningOpenings()
    /// Called before an unused realm is closed; see `whenReleasing`.
    let releasing = RankedMutex<Callback<ObjectIdentifier>?>(.leaf, nil)
    /// Opens the realms of the data folder; see `replicate`.
    private let replicating = RankedMutex<(any RealmReplication)?>(.leaf, nil)
    /// Called with each realm that is opened; see `whenOpening`.
    private let opening = RankedMutex<Callback<Database>?>(.leaf, nil)
    /// The data folder and the names in it that are not served.
    private let data = RankedMutex(.leaf, DataRealms())
    /// The number of realms that may be open at the same time.
    private let mostOpen = Atomic<Int>(.max)

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

    /// Sets the callback for each realm that is opened from then on, before any write to it.
    ///
    /// - Parameter action: Called on the thread that opens the realm, without a lock. It must not wait.
    package func whenOpening(_ action: @escaping @Sendable (Database) -> Void) { opening.withLock { $0 = Callback(action) } }

    /// Adds the common options of all realms of this catalog to those of one.
    ///
    /// - Parameters:
    ///   - path: The path of the file; nil for a realm without one.
    package func prepare(_ options: inout Database.OpenOptions, for path: String?) {
        options.logger = logger
        options.didOpen = opening.withLock { $0 }?.call
        options.replication = path.flatMap { replication(of: $0) }
    }

    /// Opens the realms of the data folder as caches of a log from then on.
    package func replicate(by replication: any RealmReplication) { replicating.withLock { $0 = replication } }

    /// The replication of a file that is a cache of a log; nil for a file that is the realm itself.
    func replication(of path: String) -> (any RealmReplication)? {
        guard let replication = replicating.withLock({ $0 }), let folder, path.hasPrefix(folder.path + "/") else { return nil }
        return replication
    }

    /// Whether the realm of a name is, or would be, a cache of a log: one that was attached from elsewhere is not, nor is one in memory.
    package func isReplicated(_ name: String) -> Bool {
        guard replicating.withLock({ $0 }) != nil else { return false }
        guard origins.knows(name) else { return true }
        return origins.path(of: name).map { replication(of: $0) != nil } ?? false
    }

    /// Whether a realm with the file at a path would be a cache of a log.
    package func isReplicated(atPath path: String) -> Bool { replication(of: path) != nil }

    /// Deletes a realm from its log, if there is one, because its file is about to be deleted.
    ///
    /// - Throws: The errors of `RealmReplication.drop`.
    package func dropHistory(of database: Database) throws(StorageError) {
        try replication(of: database.path)?.drop(database.name)
    }

    /// Records that a realm which has failed because another node serves it is closed: it is not retried automatically.
    package func setAside(_ name: RealmName) {
        guard let folder, let realm = try? folder.expected(name) else { return }
        forgetPlan(name.text)
        states.withLock { states in
            if case .failed? = states[name.text] { states[name.text] = .closed(realm) }
        }
    }

    /// Lists a realm of the data folder that may have no file yet, because the log that has it is elsewhere. The next request
    /// opens it, or forgets it if it is unknown.
    package func adopt(_ name: RealmName) {
        guard self[name.text] == nil, let folder, let realm = try? folder.expected(name) else { return }
        states.withLock { states in
            if states[name.text] == nil { states[name.text] = .closed(realm) }
        }
    }

    /// The state of the realm with the given name; nil when there is none.
    package subscript(name: String) -> State? {
        forgetFailed()
        return states.withLock { $0[name] } ?? listed(name).map(State.closed)
    }

    /// The number of realms that are open, being opened or failed.
    package var count: Int { states.withLock { $0.activeCount } }

    // MARK: - The data folder

    /// The data folder, and the names in it that are not served.
    private struct DataRealms: Sendable {
        /// The folder; nil for a server without one.
        var folder: DataFolder?
        /// The names of realms that were detached and whose files are still there.
        var withdrawn: Set<ByteText> = []
    }

    /// The folder whose files are served when they are requested; nil for none.
    package var folder: DataFolder? { data.withLock { $0.folder } }

    /// Serves the files of a folder, each of which is opened by the first request for it.
    package func serve(_ folder: DataFolder) { data.withLock { $0.folder = folder } }

    /// Lists a file that has just been made in the folder, also when a realm of its name was detached before.
    package func list(_ name: RealmName) {
        data.withLock { _ = $0.withdrawn.remove(name.text) }
        try? folder?.refresh()
    }

    /// The number of realms that may be open at the same time. Of those that are not in use, the one that was
    /// unused for longest is closed for another one.
    package var openLimit: Int {
        get { mostOpen.load(ordering: .relaxed) }
        set { mostOpen.store(newValue, ordering: .relaxed) }
    }

    /// Returns a realm of the data folder that was never opened, unless it was detached or its file is served under
    /// another name.
    func listed(_ name: String) -> ClosedRealm? {
        let folder = data.withLock { $0.withdrawn.contains(name) ? nil : $0.folder }
        guard let realm = folder?.realm(name), !origins.serves(path: realm.path) else { return nil }
        return realm
    }

    /// The number of realms in any state, with those of the data folder that are not open. Realms that have both
    /// may be counted twice.
    package var listedCount: Int { states.withLock { $0.count } + (folder?.count ?? 0) }

    /// Returns whether no realm is closed.
    ///
    /// - Parameter limit: The number of files in the data folder above which that is not found out, and the result is false.
    package func isAllOpen(among limit: Int) -> Bool {
        guard states.withLock({ $0.count == $0.activeCount }) else { return false }
        guard let folder else { return true }
        return folder.count <= limit && folder.names(after: nil, count: limit).allSatisfy { self[$0]?.isClosed != true }
    }

    /// Returns realms in the order of their names.
    ///
    /// - Parameters:
    ///   - name: The name after which they begin; nil for the first.
    ///   - limit: The number of realms to return at most.
    ///   - logged: Names of realms in a log that may have no file here: the next ones after `name`, one more than `limit` if there are
    ///     so many.
    /// - Returns: The realms, and whether there are more.
    package func page(
        after name: String?, limit: Int, logged: [String] = []
    ) -> (realms: [(name: String, state: State)], hasMore: Bool) {
        forgetFailed()
        let known = states.withLock { states in
            states.byName.filter { entry in name.map { entry.key.text > $0 } ?? true }.map {
                (name: $0.key.text, state: $0.value)
            }
        }.sorted { $0.name < $1.name }
        var listed: [(name: String, state: State)] = []
        var last = name
        // Names of the folder that are served otherwise, or not at all, do not fill the page.
        while let folder, listed.count <= limit {
            let names = folder.names(after: last, count: limit + 1)
            for name in names where !known.contains(name) {
                if let realm = self.listed(name) { listed.append((name, .closed(realm))) }
            }
            guard names.count > limit else { break }
            last = names.last
        }
        let elsewhere = expected(logged, except: Set(texts: known.map(\.name) + listed.map(\.name)))
        let realms = (known.prefix(limit + 1) + listed + elsewhere).sorted { $0.name < $1.name }
        return (Array(realms.prefix(limit)), realms.count > limit)
    }

    /// Returns the realms of some names as they are before their file is made from the log.
    ///
    /// - Parameter known: The names of those that are left out.
    private func expected(_ names: [String], except known: Set<ByteText>) -> [(name: String, state: State)] {
        guard let folder else { return [] }
        return names.compactMap { text in
            guard !known.contains(text), let name = RealmName(text), let realm = try? folder.expected(name) else { return nil }
            return (text, .closed(realm))
        }
    }

    // MARK: - All realms

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
        return states.withLock { states in states.byName.sorted { $0.key < $1.key }.map { (name: $0.key.text, state: $0.value) } }
    }

    /// Reserves a name for a realm that is about to be opened.
    ///
    /// - Parameters:
    ///   - path: The resolved path of the file; nil for a realm in memory.
    ///   - isRequested: Whether a request has named the realm, rather than the configuration.
    ///   - isOwner: Whether the file itself is served, and not private copies of it.
    /// - Throws: `Failure.alreadyAttached` when the name is used, `Failure.fileServed` for a file of the data
    ///   folder that is served under its own name.
    package func reserve(
        _ name: RealmName, path: String? = nil, isRequested: Bool = false, isOwner: Bool = true
    ) throws(Failure) {
        forgetFailed()
        if isRequested, isOwner, let path, let other = folder?.name(ofPath: path), other != name.text, listed(other) != nil {
            throw .fileServed(name: other)
        }
        let isFree = states.withLock { states -> Bool in
            guard states[name.text] == nil, listed(name.text) == nil else { return false }
            states[name.text] = .opening(progress: 0)
            return true
        }
        guard isFree else { throw .alreadyAttached(name) }
        origins.add(name.text, path: path, isRequested: isRequested, isOwner: isOwner)
    }

    /// Returns the path of a realm's file in any state of the realm; nil for a realm in memory.
    package func path(of name: String) -> String? {
        origins.path(of: name) ?? failedSource(name)?.path ?? folder?.realm(name)?.path
    }

    /// Opens a file that the server was started to serve, under a reserved name. One that cannot be
    /// opened is tried again later.
    ///
    /// - Parameters:
    ///   - name: The reserved name.
    ///   - path: The file.
    /// - Returns: The new state of the realm; `WorkControl.stopped` as its failure when it was detached during the opening. Blocks until
    ///   opening has ended.
    @discardableResult
    package func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) -> State {
        noteConfigured(name)
        let control = running.begin(name.text)
        defer { running.end(name.text, control) }
        let state = settle(name) { () throws(StorageError) in try openFile(name, path: path, options, control) }
        if case .failed(let error) = state, error != WorkControl.stopped { plan(name, path, options, after: error) }
        return state
    }

    /// Makes a realm in memory available under a reserved name. Realms with the same identifier share their data.
    ///
    /// - Parameters:
    ///   - name: The reserved name.
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

    /// Opens a realm, and stores the result as its state unless it was detached. A file that another realm already serves
    /// counts as a failure.
    private func settle(_ name: RealmName, _ open: () throws(StorageError) -> Database) -> State {
        do throws(StorageError) {
            let database = try open()
            let (isReserved, other) = states.withLock { states -> (Bool, String?) in
                guard case .opening? = states[name.text] else { return (false, nil) }
                if let other = states.server(of: database.identity) { return (true, other) }
                states[name.text] = .ready(database)
                return (true, nil)
            }
            if isReserved, other == nil { return .ready(database) }
            // One in memory may have another name.
            if !databases.contains(where: { $0 === database }) { database.close() }
            guard let other else { throw WorkControl.stopped }
            throw .refused(.fileInUse("the file is served as '\(other)' already"))
        } catch {
            states.withLock { states in
                if case .opening? = states[name.text] { states[name.text] = .failed(error) }
            }
            return .failed(error)
        }
    }

    /// Returns the name under which the file at a path is served, also if it was opened by another path;
    /// nil when it is not served or does not exist.
    package func nameServing(path: String) -> String? {
        let file = System.identity(path: path)
        let name = states.withLock { states -> String? in
            if let name = states.server(of: file) { return name }
            return states.byName.first { entry in
                guard case .closed(let realm) = entry.value else { return false }
                return realm.path == path
            }?.key.text
        }
        return name ?? folder?.name(ofPath: path).flatMap { listed($0)?.name.text }
    }

    /// The databases that are open; a database in memory appears once for each of its names.
    package var databases: [Database] {
        all.compactMap { entry in
            guard case .ready(let database) = entry.state else { return nil }
            return database
        }
    }

    /// Completes the waiting writes of all realms that are no longer permitted (`WriteRequest.refusal`).
    package func refuseOutdatedWrites() {
        for name in openNames { database(name)?.refuseOutdatedWrites() }
    }

    /// Whether a realm has writes that are not completed yet.
    package var hasPendingWrites: Bool { openNames.contains { (database($0)?.pendingWrites ?? 0) > 0 } }

    /// The names of the realms that are open, in no particular order.
    package var openNames: [String] {
        states.withLock { states in
            states.byName.compactMap { name, state in if case .ready = state { name.text } else { nil } }
        }
    }

    /// Returns the database of a realm if it is open.
    package func database(_ name: String) -> Database? {
        guard case .ready(let database)? = states.withLock({ $0[name] }) else { return nil }
        return database
    }

    /// Returns the database of the file at a path, which must be the resolved one with which it was opened.
    package func database(atPath path: String) -> Database? { databases.first { !$0.path.isEmpty && $0.path == path } }

    /// Removes a realm and closes it, unless its database in memory has another name. Blocks until
    /// waiting writes are done. An opening in progress ends at its next check; `whenOpeningsEnd` reports its end.
    package func detach(_ name: String) {
        let path = path(of: name)
        origins.remove(name)
        withdraw(name, path)
        let state = states.withLock { $0.removeValue(forKey: name) }
        running.cancel(name)
        forgetPlan(name)
        guard case .ready(let database)? = state, !databases.contains(where: { $0 === database }) else { return }
        database.close()
    }

    /// Keeps a file of the data folder out of the list, until it is attached again. One that is gone is forgotten.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - path: The path of its file; the folder may not have been read since the file came.
    private func withdraw(_ name: String, _ path: String?) {
        guard let folder, let path = folder.realm(name)?.path ?? path, folder.servedName(ofPath: path)?.text == name else {
            return
        }
        guard System.entry(atPath: path) != nil else { return folder.remove(name) }
        data.withLock { _ = $0.withdrawn.insert(name) }
    }

    /// Closes all realms, and stops reopening failed ones. Blocks until waiting writes are done.
    package func closeAll() {
        plans.withLock { plans in
            plans.byName = [:]
            plans.isClosed = true
        }
        let all = states.withLock { states in
            defer { states = RealmStates() }
            return states.byName
        }
        for case .ready(let database) in all.values { database.close() }
    }

    /// Stores the state of a realm with a reserved name.
    ///
    /// - Parameters:
    ///   - name: The reserved name.
    ///   - state: The open database, or the error.
    /// - Throws: `Failure`: `detached` when the name is no longer reserved, `fileServed` when another realm serves the file.
    package func settle(_ name: RealmName, _ state: State) throws(Failure) {
        let failure = states.withLock { states -> Failure? in
            guard case .opening? = states[name.text] else { return .detached }
            if case .ready(let database) = state, let other = states.server(of: database.identity) {
                return .fileServed(name: other)
            }
            states[name.text] = state
            return nil
        }
        if let failure { throw failure }
        if case .failed = state { origins.noteFailure(of: name.text) } else { origins.noteSuccess(of: name.text) }
        // A file that was detached is listed again from the next detaching on only.
        data.withLock { _ = $0.withdrawn.remove(name.text) }
    }

    /// Stores the progress of opening a realm, from 0 to 1.
    package func setProgress(_ part: Double, of name: RealmName) {
        states.withLock { states in
            guard case .opening? = states[name.text] else { return }
            states[name.text] = .opening(progress: part)
        }
    }

    /// Removes a realm without closing it; requests that hold its snapshots continue. An opening in progress ends at its next check.
    package func remove(_ name: String) {
        origins.remove(name)
        let state = states.withLock { $0.removeValue(forKey: name) }
        running.cancel(name)
        withExtendedLifetime(state) {}
        forgetPlan(name)
    }

    /// The names of the realms that the server was started to serve but that are not ready.
    package var unready: [String] {
        all.compactMap { entry in
            // A followed file that is away cannot be read, although its realm stays open.
            if case .ready(let database) = entry.state, database.absence == nil { return nil }
            if case .closed = entry.state { return nil }
            // Other nodes may serve it, and this one all others.
            if case .failed = entry.state, isReplicated(entry.name) { return nil }
            return isConfigured(entry.name) && !origins.isRequested(entry.name) ? entry.name : nil
        }
    }
}

extension [(name: String, state: Catalog.State)] {
    /// Returns whether realms that are in order contain one of the given name.
    fileprivate func contains(_ name: String) -> Bool {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if self[middle].name == name { return true }
            if self[middle].name < name { range = middle + 1..<range.upperBound } else { range = range.lowerBound..<middle }
        }
        return false
    }
}
