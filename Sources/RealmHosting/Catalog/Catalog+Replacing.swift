// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Replaces the file of a realm that is served, or that has failed because of its file.
extension Catalog {
    /// A realm whose file can be replaced.
    package struct Target: Sendable {
        package let name: RealmName
        /// The open realm; nil for one that has failed.
        package let database: Database?
        /// The path of the file without symbolic links.
        package let path: String
        /// The path with which the realm was opened.
        package let sourcePath: String
        package let options: Database.OpenOptions
        /// The reason why the realm has failed; nil for an open one.
        fileprivate let failure: StorageError?

        /// The copies next to the file.
        package var copies: FileCopies { FileCopies(ofFile: path, key: options.key) }

        /// The number of the version in the file; nil when it cannot be read.
        package var version: UInt64? {
            if let database { return database.current.snapshot.version }
            return (try? RealmFile(path: path, key: options.key)).flatMap { try? Snapshot(file: $0) }?.version
        }
    }

    /// Returns a realm whose file can be replaced.
    ///
    /// - Parameter name: The name of the realm.
    /// - Returns: The realm; nil when it is unknown, in memory, a private copy, followed, being opened, or not reopened
    ///   automatically.
    package func target(_ name: String) -> Target? {
        switch self[name] {
        case .ready(let database)?:
            guard database.ownsOriginal, let source = database.source, let path = try? System.resolved(source.path) else {
                return nil
            }
            return Target(
                name: database.name, database: database, path: path, sourcePath: source.path, options: source.options,
                failure: nil)
        case .failed(let error)?:
            guard let plan = plans.withLock({ $0.byName[name] }), plan.options.mode != .copy, plan.options.mode != .follow,
                let path = try? System.resolved(plan.path)
            else { return nil }
            return Target(
                name: plan.name, database: nil, path: path, sourcePath: plan.path, options: plan.options, failure: error)
        case .opening?, .closed?, nil: return nil
        }
    }

    /// Takes a realm out of service until `endReplacing` is called. The caller closes it.
    ///
    /// - Parameter target: The realm.
    /// - Returns: False when its state has changed in the meantime, or while a failed realm is still being closed or opened
    ///   again.
    package func beginReplacing(_ target: Target) -> Bool {
        guard target.database != nil || takePlan(target.name.text) else { return false }
        let isTaken = states.withLock { states -> Bool in
            switch (states[target.name.text], target.database) {
            case (.ready(let known)?, let database?) where known === database: break
            case (.failed?, nil): break
            default: return false
            }
            states[target.name.text] = .opening(progress: 0)
            return true
        }
        // A failed realm is not reopened automatically from here on.
        if isTaken { forgetPlan(target.name.text) } else if target.database == nil { didClose(target.name.text) }
        return isTaken
    }

    /// Takes the plan of a failed realm, so that nothing else opens or closes it; false while that is being done.
    private func takePlan(_ name: String) -> Bool {
        plans.withLock { plans in
            guard plans.byName[name]?.isBusy == false else { return false }
            plans.byName[name]?.isBusy = true
            return true
        }
    }

    /// Opens the file of a realm under a new epoch, and does not make it available yet.
    ///
    /// - Parameters:
    ///   - target: The realm.
    ///   - isReplaced: Whether another file has taken the place of the one before.
    /// - Throws: `WorkControl.stopped` when the realm was detached, and the errors of `Database.open`.
    package func reopen(_ target: Target, isReplaced: Bool) throws(StorageError) -> Database {
        var options = target.options.forReopening
        options.beginsHistory = isReplaced
        let control = running.begin(target.name.text)
        defer { running.end(target.name.text, control) }
        return try openFile(target.name, path: target.sourcePath, options, control)
    }

    /// Makes a realm available again, or records the reason why it is not; it is then reopened later.
    ///
    /// - Parameters:
    ///   - target: The realm.
    ///   - result: The open realm, which is closed if the realm was detached in the meantime, or the error.
    /// - Returns: Whether the realm is served.
    @discardableResult
    package func endReplacing(_ target: Target, _ result: Result<Database, StorageError>) -> Bool {
        let state: State
        switch result {
        case .success(let database): state = .ready(database)
        case .failure(let error): state = .failed(error)
        }
        do throws(Failure) {
            try settle(target.name, state)
        } catch {
            if case .success(let database) = result { database.close() }
            guard case .fileServed(let other) = error else { return false }
            let failure = StorageError.refused(.fileInUse("the file is served as '\(other)' already"))
            return endReplacing(target, .failure(failure))
        }
        guard case .failure(let error) = result else { return true }
        plan(target.name, target.sourcePath, target.options, after: error)
        return false
    }
}
