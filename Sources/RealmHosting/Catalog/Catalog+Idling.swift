// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Opens realms when they are requested, and closes unused ones.
///
/// A realm that is being opened or closed here stays `closed` in the catalog. Requests for it that arrive in the meantime wait
/// for the end of that, without a thread.
extension Catalog {
    /// The outcome of opening a closed realm.
    package enum Waking: Sendable {
        /// The state of the realm: open, failed, or one that another request has caused; nil when the realm no longer exists.
        case settled(State?)
        /// As many realms are open as may be, and all of them are in use.
        case tooMany(limit: Int)
    }

    /// The realms that are being opened or closed, with the actions that wait for the end of that.
    struct Transitions {
        /// The waiting actions by the name of the realm.
        var waiting: [ByteText: [@Sendable (Waking) -> Void]] = [:]
        /// The number of realms that are being opened.
        var openings = 0
    }

    // MARK: - Opening

    /// Opens a closed realm on the calling thread, unless another thread is doing that.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - completion: Called once, on this thread or on the one that opens the realm. It must not wait.
    package func wake(_ name: String, completion: @escaping @Sendable (Waking) -> Void) {
        let isFirst = transitions.withLock { transitions -> Bool in
            defer { transitions.waiting[name, default: []].append(completion) }
            return transitions.waiting[name] == nil
        }
        if isFirst { finishWaking(name) }
    }

    /// Opens a closed realm, and returns when that is done, by this thread or another.
    package func openNow(_ name: String) -> Waking {
        let result = Monitor<Waking?>(nil)
        wake(name) { outcome in result.broadcast { $0 = outcome } }
        return result.wait { $0 } ?? .settled(self[name])
    }

    /// Opens a realm whose transition this thread has begun, and calls the waiting actions.
    private func finishWaking(_ name: String) {
        let result = openClosed(name)
        let waiting = transitions.withLock { $0.waiting.removeValue(forKey: name) } ?? []
        HeldLocks.assertNone()
        for action in waiting { action(result) }
    }

    /// Opens a closed realm.
    private func openClosed(_ name: String) -> Waking {
        guard case .closed(let realm)? = self[name] else { return .settled(self[name]) }
        guard makeRoom() else { return .tooMany(limit: openLimit) }
        defer { leaveRoom() }
        let control = running.begin(name)
        defer { running.end(name, control) }
        do throws(StorageError) {
            let database = try openFile(realm.name, path: realm.path, try realm.openOptions(), control)
            database.noteUse(.now())
            return .settled(settle(database, realm))
        } catch {
            guard error != WorkControl.stopped else { return .settled(self[name]) }
            return .settled(fail(realm, error))
        }
    }

    /// Makes a realm available that was closed; closes it again when it was detached in the meantime.
    private func settle(_ database: Database, _ realm: ClosedRealm) -> State? {
        let name = realm.name.text
        let other = states.withLock { states -> String? in
            if let other = states.server(of: database.identity) { return other }
            guard isClosed(name, in: states) else { return name }
            states[name] = .ready(database)
            return nil
        }
        guard let other else { return .ready(database) }
        database.close()
        guard other != name else { return self[name] }
        return fail(realm, .refused(.fileInUse("the file is served as '\(other)' already")))
    }

    /// Records why a closed realm was not opened; it is tried again later. A file of the data folder that is gone is forgotten.
    private func fail(_ realm: ClosedRealm, _ error: StorageError) -> State? {
        let name = realm.name.text
        // It may be this node's again at any time.
        if case .refused(.notOwner) = error { return .failed(error) }
        let isGone = realm.isListed && error == .refused(.fileNotFound)
        if isGone { folder?.remove(name) }
        let isFailed = states.withLock { states -> Bool in
            guard isClosed(name, in: states) || isGone else { return false }
            states[name] = isGone ? nil : .failed(error)
            return !isGone
        }
        guard isFailed else { return self[name] }
        if realm.isListed { noteConfigured(realm.name) }
        if let options = try? realm.openOptions() { plan(realm.name, realm.path, options, after: error) }
        return .failed(error)
    }

    /// Returns whether a realm is closed, and neither open nor detached. Called with the lock of the states.
    private func isClosed(_ name: String, in states: RealmStates) -> Bool {
        switch states[name] {
        case .closed?: return true
        case nil: return listed(name) != nil
        case .opening?, .ready?, .failed?: return false
        }
    }

    /// Reserves a place among the open realms, and closes the one that was unused for longest if there is no other. Code that has
    /// opened or reserved a realm returns the place with `leaveRoom`.
    ///
    /// - Returns: False when all realms are in use; no place is reserved then.
    package func makeRoom() -> Bool {
        // Another thread may use a realm at that moment, so it is tried more than once.
        for attempt in 0..<5 {
            if attempt > 0 { Threads.sleep(seconds: 0.002) }
            repeat {
                if takeRoom() { return true }
            } while closeLongestUnused()
        }
        return false
    }

    /// Gives back a place that `makeRoom` has reserved.
    package func leaveRoom() { transitions.withLock { $0.openings -= 1 } }

    /// Reserves a place if there is one.
    private func takeRoom() -> Bool {
        let openCount = states.withLock { $0.openCount }
        return transitions.withLock { transitions in
            guard openCount + transitions.openings < openLimit else { return false }
            transitions.openings += 1
            return true
        }
    }

    /// Closes unused realms until no more are open than permitted.
    package func closeExcess() {
        while states.withLock({ $0.openCount }) > openLimit, closeLongestUnused() {}
    }

    /// Closes the realm that was unused for longest among those that are not in use; false when there is none.
    private func closeLongestUnused() -> Bool {
        var inUse: [String] = []
        defer { states.withLock { $0.putBack(inUse) } }
        while let name = states.withLock({ $0.takeLongestUnused() }) {
            if closeIfUnused(name) { return true }
            inUse.append(name)
        }
        return false
    }

    // MARK: - Realms of earlier servers

    /// The reason why a realm that was attached with a key is not opened: no server keeps the key.
    private static let keyIsGone = StorageError.refused(
        .encryptionKeyRequired("keys are not kept when the server ends; give it again"))

    /// Lists a realm that an earlier server has attached; the next request opens it.
    ///
    /// - Parameters:
    ///   - path: The resolved path of its file.
    ///   - lacksKey: Whether it needs a key that is not known; it has failed until it gets one.
    /// - Throws: `Failure` when the name or the file is in use.
    package func restore(
        _ name: RealmName, path: String, _ options: Database.OpenOptions, lacksKey: Bool
    ) throws(Failure) {
        let isOwner = options.mode != .copy && options.mode != .follow
        // An unopened file of the data folder is not served under its own name then.
        if isOwner, let other = nameServing(path: path), other != name.text, states.withLock({ $0[other] }) != nil {
            throw .fileServed(name: other)
        }
        let isFree = states.withLock { states -> Bool in
            guard states[name.text] == nil else { return false }
            states[name.text] =
                lacksKey ? .failed(Catalog.keyIsGone) : .closed(ClosedRealm(attached: name, path: path, options.forReopening))
            return true
        }
        guard isFree else { throw .alreadyAttached(name) }
        origins.add(name.text, path: path, isRequested: true, isOwner: isOwner)
        if lacksKey { plan(name, path, options, after: Catalog.keyIsGone) }
    }

    // MARK: - Closing

    /// Returns the open realms that no request has named for a time.
    ///
    /// - Parameter seconds: The time.
    package func idle(forSeconds seconds: Double) -> [String] {
        let now = Instant.now()
        return states.withLock { states in
            states.byName.compactMap { name, state in
                guard case .ready(let database) = state, now.seconds(since: database.lastUse) >= seconds,
                    database.mayBeClosed
                else { return nil }
                return name.text
            }
        }
    }

    /// Closes a realm if it is unused: by requests, streams, leases and waiting writes. Blocks until its file is closed.
    ///
    /// - Parameter name: The name of the realm.
    /// - Returns: Whether it was closed.
    @discardableResult
    package func closeIfUnused(_ name: String) -> Bool {
        let isFirst = transitions.withLock { transitions -> Bool in
            guard transitions.waiting[name] == nil else { return false }
            transitions.waiting[name] = []
            return true
        }
        guard isFirst else { return false }
        // State kept for clients that may return refers to the database.
        if let id = unusedDatabase(name), let action = releasing.withLock({ $0 }) { action.call(id) }
        releaseReplica(name)
        let isClosed = takeUnused(name).map { database in
            close(database)
            return true
        }
        if isClosed == nil { resumeReplica(name) }
        let isWanted = transitions.withLock { transitions -> Bool in
            guard transitions.waiting[name]?.isEmpty == true else { return true }
            transitions.waiting[name] = nil
            return false
        }
        // Requests that arrived in the meantime need it again.
        if isWanted { finishWaking(name) }
        return isClosed ?? false
    }

    /// Lets the replication of a realm release it.
    private func releaseReplica(_ name: String) {
        guard let path = states.withLock({ $0[name] })?.openPath, let realm = RealmName(name) else { return }
        replication(of: path)?.release(realm)
    }

    /// Continues the replication of a realm that was not closed.
    private func resumeReplica(_ name: String) {
        guard let database = database(name) else { return }
        replication(of: database.path)?.resume(database)
    }

    /// Calls an action with the identity of each unused database that is about to be closed, so that state kept for returning
    /// clients does not keep it open.
    ///
    /// A reference to the database would keep it in use.
    package func whenReleasing(_ action: @escaping @Sendable (ObjectIdentifier) -> Void) {
        releasing.withLock { $0 = Callback(action) }
    }

    /// The identity of an open database that may be closed.
    private func unusedDatabase(_ name: String) -> ObjectIdentifier? {
        states.withLock { states in
            guard case .ready(let database)? = states[name], database.mayBeClosed else { return nil }
            return ObjectIdentifier(database)
        }
    }

    /// Marks a realm as closed if nothing else refers to it: every user of a realm holds its database.
    private func takeUnused(_ name: String) -> Database? {
        states.withLock { states -> Database? in
            guard let realm = closed(name, in: states) else { return nil }
            return states.takeReady(name, leaving: realm)
        }
    }

    /// Returns the state that an open realm leaves when it is closed; nil when it has to stay open. It must not return the
    /// database, which would then be in use.
    private func closed(_ name: String, in states: RealmStates) -> ClosedRealm? {
        guard case .ready(let database)? = states[name], database.mayBeClosed, let source = database.source else { return nil }
        return ClosedRealm(database, source, isListed: isListed(name), state: nil)
    }

    /// Closes a database, and notes the state of its file, by which the next opening knows it again.
    private func close(_ database: Database) {
        let source = database.source
        let name = database.name.text
        database.close()
        guard let source else { return }
        let realm = ClosedRealm(
            database, source, isListed: isListed(name), state: try? FileState(path: source.path))
        states.withLock { states in
            if case .closed? = states[name] { states[name] = .closed(realm) }
        }
    }

    /// Whether the data folder has the file of a realm.
    private func isListed(_ name: String) -> Bool { folder?.realm(name) != nil && !origins.hasPath(name) }
}
