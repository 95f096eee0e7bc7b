// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Opens failed realms again when that may succeed: those that could not be opened, and those whose file changed.
///
/// The callers decide when and on which thread.
extension Catalog {
    /// The options and the time for reopening one failed realm.
    struct Plan: Sendable {
        /// The name under which the realm is served.
        let name: RealmName
        /// The path of the file, as it was given when the realm was first opened.
        let path: String
        /// The options for opening it, without those that only apply to the first opening.
        var options: Database.OpenOptions
        /// The number that distinguishes it from the plan of an earlier realm with the same name.
        let number: UInt64
        /// Whether the realm is being opened again or closed at present.
        var isBusy = false
        /// The number of failed attempts, with which the pause grows.
        var attempts = 0
        /// The instant of the last attempt, or at which the failure was found.
        var lastTry = Instant.now()
        /// The facts about the file when it failed because of its contents; nil for other failures.
        var failedFacts: System.FileFacts?
        /// Whether it failed because the key is missing or wrong: then it is another key that helps, and each attempt of a realm in a
        /// log reads a base of it.
        var needsKey = false

        /// The pause between two attempts that requests cause.
        var requestPause: Duration { needsKey ? pause : .seconds(1) }
        /// The pause between two attempts by the server itself: 1 second, doubled with each attempt up to 60 seconds.
        var pause: Duration { .seconds(min(60, 1 << min(attempts, 6))) }
    }

    /// The plans for all failed realms, and the realms that the server was started to serve.
    struct Plans: Sendable {
        /// The plans by the name of their realm.
        var byName: [ByteText: Plan] = [:]
        /// The number that the last stored plan has; plans count up.
        var nextNumber: UInt64 = 0
        /// The realms of the configuration, the command line and the data folder, which the server is expected to serve.
        var configured: Set<ByteText> = []
        /// Whether the catalog is closed, so that nothing is opened again.
        var isClosed = false
        /// The failed realms of the data folder whose files were gone at the last check.
        var missing: Set<ByteText> = []
    }

    /// The time in nanoseconds for which a file must not have changed; it may otherwise be in the middle of being copied.
    private static let quietNanoseconds: Int64 = 500_000_000

    // MARK: - Plans

    /// Stores the plan for reopening a failed realm, and replaces an earlier one.
    ///
    /// - Parameters:
    ///   - path: The path of its file.
    ///   - error: The reason for the failure.
    ///   - isBusy: Whether another thread is still closing it.
    func plan(_ name: RealmName, _ path: String, _ options: Database.OpenOptions, after error: StorageError, isBusy: Bool = false)
    {
        let facts = dependsOnFile(error, path) ? try? System.facts(path: path) : nil
        plans.withLock { plans in
            plans.nextNumber += 1
            var plan = Plan(name: name, path: path, options: options.forReopening, number: plans.nextNumber)
            plan.isBusy = isBusy
            plan.failedFacts = facts
            plan.needsKey = error.isAboutKey
            plans.byName[name.text] = plan
        }
    }

    /// Whether opening a file fails in the same way until the file changes. A file whose commits are in a log is made of that, so it is the
    /// log that something was missing in, perhaps because a server of it was behind.
    private func dependsOnFile(_ error: StorageError, _ path: String) -> Bool {
        error.isAboutContents && replication(of: path) == nil
    }

    /// Returns the file of a failed realm and its options; nil when it is not reopened automatically.
    package func failedSource(_ name: String) -> (path: String, options: Database.OpenOptions)? {
        plans.withLock { plans in plans.byName[name].map { ($0.path, $0.options) } }
    }

    /// Removes the plan of a realm, which is then not reopened automatically.
    func forgetPlan(_ name: String) { plans.withLock { $0.byName[name] = nil } }

    /// Records that the server was started to serve the realm, so that its failure makes the server unready.
    func noteConfigured(_ name: RealmName) { plans.withLock { _ = $0.configured.insert(name.text) } }

    /// Returns whether the server was started to serve the realm, in contrast to a realm that only a request has named.
    package func isConfigured(_ name: String) -> Bool { plans.withLock { $0.configured.contains(name) } }

    // MARK: - Failing

    /// Takes an open realm out of use because its file was changed or damaged.
    ///
    /// - Parameters:
    ///   - database: The realm.
    ///   - error: The error that was found.
    /// - Returns: True for the first call for this realm; that caller closes the database and then calls
    ///   `didClose`.
    package func fail(_ database: Database, _ error: StorageError) -> Bool {
        let isFirst = states.withLock { states -> Bool in
            guard case .ready(let known)? = states[database.name.text], known === database else { return false }
            states[database.name.text] = .failed(error)
            return true
        }
        if isFirst { database.log.failed(error) }
        guard isFirst, let source = database.source else { return isFirst }
        plan(database.name, source.path, source.options, after: error, isBusy: true)
        return true
    }

    /// Whether an open realm was detached in the meantime, so that its file may rightly be gone. A realm that has failed, and one
    /// whose file was replaced, is still there.
    package func isDetached(_ database: Database) -> Bool {
        switch states.withLock({ $0[database.name.text] }) {
        case .ready?, .failed?: false
        case .opening?, .closed?, nil: true
        }
    }

    /// Records that a failed realm is closed, so that it may be opened again.
    package func didClose(_ name: String) { plans.withLock { $0.byName[name]?.isBusy = false } }

    // MARK: - Opening again

    /// Returns the failed realms that are due for another attempt. The caller passes each of them to `revive`.
    package func takeDue() -> [String] {
        let now = Instant.now()
        return plans.withLock { plans in
            guard !plans.isClosed else { return [] }
            let due = plans.byName.values.filter { !$0.isBusy && now >= $0.lastTry.adding($0.pause) }
            for plan in due { plans.byName[plan.name.text]?.isBusy = true }
            return due.map(\.name.text)
        }
    }

    /// Returns whether a request for a failed realm causes another attempt. If so, the caller passes the realm to `revive`.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - now: The present instant.
    package func take(_ name: String, _ now: Instant) -> Bool {
        plans.withLock { plans in
            guard !plans.isClosed, let plan = plans.byName[name], !plan.isBusy,
                plan.attempts == 0 || now >= plan.lastTry.adding(plan.requestPause)
            else { return false }
            plans.byName[name]?.isBusy = true
            return true
        }
    }

    /// Returns whether `take` would accept a realm at the present instant.
    package func isDue(_ name: String, _ now: Instant) -> Bool {
        plans.withLock { plans in
            guard !plans.isClosed, let plan = plans.byName[name], !plan.isBusy else { return false }
            return plan.attempts == 0 || now >= plan.lastTry.adding(plan.requestPause)
        }
    }

    /// Reserves the name of a failed realm for another attempt to attach it, which ends with `settle`.
    ///
    /// - Returns: False when the realm has not failed, or was detached.
    package func beginAgain(_ name: RealmName) -> Bool {
        let hasBegun = states.withLock { states -> Bool in
            guard case .failed? = states[name.text] else { return false }
            states[name.text] = .opening(progress: 0)
            return true
        }
        if hasBegun { origins.noteAttempt(of: name.text) }
        return hasBegun
    }

    /// Forgets the failed realms of the data folder whose files are gone, as they would be if they were closed. It is
    /// called at intervals: a file may be away for a moment while another one takes its place.
    package func forgetMissing() {
        let failed = states.withLock { states in
            states.byName.compactMap { name, state in if case .failed = state { name.text } else { nil } }
        }
        let missing = Set<ByteText>(
            texts: failed.filter { name in
                guard !origins.knows(name) else { return false }
                let path = failedSource(name)?.path ?? folder?.realm(name)?.path
                return path.flatMap { System.entry(atPath: $0) }?.isRegular != true
            })
        let gone = plans.withLock { plans -> Set<ByteText> in
            defer { plans.missing = missing }
            let gone = missing.intersection(plans.missing).filter { plans.byName[$0]?.isBusy != true }
            for name in gone {
                plans.byName[name] = nil
                plans.configured.remove(name)
            }
            return gone
        }
        for name in gone.texts {
            folder?.remove(name)
            states.withLock { states in
                if case .failed? = states[name] { states[name] = nil }
            }
        }
    }

    /// Opens a failed realm again, under a new epoch. Blocks as long as opening takes.
    ///
    /// - Parameter name: The name of the realm, which `takeDue` has returned or `take` has accepted.
    /// - Returns: The new state; nil when it was not attempted, because the file has not changed, was
    ///   modified just now, or the realm was detached.
    @discardableResult
    package func revive(_ name: String) -> State? {
        guard let plan = plans.withLock({ $0.byName[name] }), case .failed? = self[name] else { return nil }
        let facts = try? System.facts(path: plan.path)
        if let known = plan.failedFacts, known == facts {
            noteAttempt(plan, known)
            return nil
        }
        // No other program writes the cache of a log.
        if let facts, replication(of: plan.path) == nil, facts.wasModified(within: Catalog.quietNanoseconds) {
            noteAttempt(plan, plan.failedFacts, counts: false)
            return nil
        }
        let control = running.begin(name)
        defer { running.end(name, control) }
        do throws(StorageError) {
            let database = try openFile(plan.name, path: plan.path, plan.options, control)
            guard settle(database, plan) else {
                database.close()
                return nil
            }
            return .ready(database)
        } catch {
            guard error != WorkControl.stopped else {
                noteAttempt(plan, nil)
                return nil
            }
            replaceFailure(plan, error)
            noteAttempt(plan, dependsOnFile(error, plan.path) ? facts : nil)
            return .failed(error)
        }
    }

    /// Opens a failed realm with another key. Blocks as long as opening takes.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - key: The key, which is kept if the realm can be opened with it.
    /// - Returns: The new state; nil when the realm has not failed, or another thread is opening or closing it.
    package func revive(_ name: String, with key: EncryptionKey) -> State? {
        let former = plans.withLock { plans -> Database.OpenOptions? in
            guard !plans.isClosed, let plan = plans.byName[name], !plan.isBusy else { return nil }
            plans.byName[name]?.isBusy = true
            plans.byName[name]?.options.key = key
            plans.byName[name]?.failedFacts = nil
            return plan.options
        }
        guard let former else { return nil }
        let state = revive(name)
        if case .ready? = state { return state }
        plans.withLock { $0.byName[name]?.options = former }
        return state
    }

    /// Ends an attempt, so that the realm may be opened again after the pause of its plan.
    ///
    /// - Parameters:
    ///   - facts: The facts about the file if it failed because of its contents.
    ///   - counts: Whether the attempt makes the pause longer.
    private func noteAttempt(_ plan: Plan, _ facts: System.FileFacts?, counts: Bool = true) {
        plans.withLock { plans in
            guard plans.byName[plan.name.text]?.number == plan.number else { return }
            plans.byName[plan.name.text]?.isBusy = false
            plans.byName[plan.name.text]?.attempts = counts ? plan.attempts + 1 : max(plan.attempts, 1)
            plans.byName[plan.name.text]?.lastTry = .now()
            plans.byName[plan.name.text]?.failedFacts = facts
        }
    }

    /// Makes `error` the reason that clients receive, unless the plan is outdated.
    private func replaceFailure(_ plan: Plan, _ error: StorageError) {
        guard isCurrent(plan) else { return }
        plans.withLock { $0.byName[plan.name.text]?.needsKey = error.isAboutKey }
        states.withLock { states in
            if case .failed? = states[plan.name.text] { states[plan.name.text] = .failed(error) }
        }
    }

    /// Returns whether the plan is still the one of its realm.
    private func isCurrent(_ plan: Plan) -> Bool {
        plans.withLock { !$0.isClosed && $0.byName[plan.name.text]?.number == plan.number }
    }

    /// Makes a reopened database available; returns false when the realm was detached in the meantime, or another realm serves
    /// the file.
    private func settle(_ database: Database, _ plan: Plan) -> Bool {
        guard isCurrent(plan) else { return false }
        let isSettled = states.withLock { states -> Bool in
            guard case .failed? = states[plan.name.text], states.server(of: database.identity) == nil
            else { return false }
            states[plan.name.text] = .ready(database)
            return true
        }
        if isSettled { forgetPlan(plan.name.text) } else { noteAttempt(plan, nil) }
        return isSettled
    }
}
