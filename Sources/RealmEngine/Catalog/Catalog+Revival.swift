// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Realms that failed, because they could not be opened or their file changed underneath, are opened again when that may
/// succeed. Whoever calls here decides when and on which thread.
extension Catalog {
    /// How a realm is opened again.
    struct Plan: Sendable {
        /// The name that the realm is served by.
        let name: RealmName
        /// The file, as it was given when the realm was opened first.
        let path: String
        /// What it is opened with, less what only concerns the first opening.
        let options: Database.OpenOptions
        /// Tells it from an earlier realm of the same name.
        let number: UInt64
        /// Whether it is being opened again, or closed, at the moment.
        var isBusy = false
        /// How often opening it again has failed; the pause grows with it.
        var attempts = 0
        /// When it was last opened, or found to have failed.
        var lastTry = Instant.now()
        /// What the file was when it failed, where its contents were why.
        var failedFacts: System.FileFacts?

        /// The pause between two attempts by the server itself, growing to a minute.
        var pause: Duration { .seconds(min(60, 1 << min(attempts, 6))) }
    }

    /// How all failed realms are opened again, and which realms the server was started to serve.
    struct Plans: Sendable {
        /// The plans, by the name of their realm.
        var byName: [String: Plan] = [:]
        /// The number of the plan that was made last.
        var nextNumber: UInt64 = 0
        /// Realms of the configuration, the command line and the data folder: what the server is expected to serve.
        var configured: Set<String> = []
        /// Whether the catalog is closed: nothing is opened again then.
        var isClosed = false
    }

    /// Between two attempts that requests ask for.
    private static let requestPause = Duration.seconds(1)
    /// A file that changed less than this ago may be in the middle of being copied.
    private static let quietNanoseconds: Int64 = 500_000_000

    // MARK: - Plans

    /// Notes how a realm that failed with `error` is opened again, in place of an earlier plan. `isBusy` is set while another
    /// thread still closes what the realm was.
    func plan(_ name: RealmName, _ path: String, _ options: Database.OpenOptions, after error: StorageError, isBusy: Bool = false)
    {
        let facts = error.isAboutContents ? try? System.facts(path: path) : nil
        plans.withLock { plans in
            plans.nextNumber += 1
            var plan = Plan(name: name, path: path, options: options.forReopening, number: plans.nextNumber)
            plan.isBusy = isBusy
            plan.failedFacts = facts
            plans.byName[name.text] = plan
        }
    }

    /// Drops the plan of a realm: it is not opened again by itself.
    func forgetPlan(_ name: String) { plans.withLock { $0.byName[name] = nil } }

    /// Notes that the server was started to serve the realm, so that its failure makes the server unready.
    func noteConfigured(_ name: RealmName) { plans.withLock { _ = $0.configured.insert(name.text) } }

    /// Whether the server was started to serve the realm, and not a request has named it.
    package func isConfigured(_ name: String) -> Bool { plans.withLock { $0.configured.contains(name) } }

    // MARK: - Failing

    /// Takes an open realm out of use because its file is no longer what it was. True for the first who says so: the
    /// caller closes it, and says `didClose` then.
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

    /// A realm that had failed is closed: it may be opened again.
    package func didClose(_ name: String) { plans.withLock { $0.byName[name]?.isBusy = false } }

    // MARK: - Opening again

    /// The failed realms whose time for another attempt has come. Each is to be given to `revive`.
    package func takeDue() -> [String] {
        let now = Instant.now()
        return plans.withLock { plans in
            guard !plans.isClosed else { return [] }
            let due = plans.byName.values.filter { !$0.isBusy && now >= $0.lastTry.adding($0.pause) }
            for plan in due { plans.byName[plan.name.text]?.isBusy = true }
            return due.map(\.name.text)
        }
    }

    /// Whether a request for a failed realm makes it worth another attempt; it is to be given to `revive` then.
    package func take(_ name: String, _ now: Instant) -> Bool {
        plans.withLock { plans in
            guard !plans.isClosed, let plan = plans.byName[name], !plan.isBusy,
                plan.attempts == 0 || now >= plan.lastTry.adding(Catalog.requestPause)
            else { return false }
            plans.byName[name]?.isBusy = true
            return true
        }
    }

    /// Opens a failed realm again, under a new epoch. Takes as long as opening does; nil when it was not tried, because
    /// nothing has changed or the realm was detached.
    @discardableResult
    package func revive(_ name: String) -> State? {
        guard let plan = plans.withLock({ $0.byName[name] }), case .failed? = self[name] else { return nil }
        let facts = try? System.facts(path: plan.path)
        if let known = plan.failedFacts, known == facts {
            noteAttempt(plan, known)
            return nil
        }
        if let facts, facts.wasModified(within: Catalog.quietNanoseconds) {
            noteAttempt(plan, plan.failedFacts, counts: false)
            return nil
        }
        do throws(StorageError) {
            let database = try Database.open(name: plan.name, path: plan.path, plan.options)
            guard settle(database, plan) else {
                database.close()
                return nil
            }
            return .ready(database)
        } catch {
            replaceFailure(plan, error)
            noteAttempt(plan, error.isAboutContents ? facts : nil)
            return .failed(error)
        }
    }

    /// Ends an attempt of `plan`: it may be tried again after its pause. `facts` are those of the file when its contents were
    /// why it
    /// failed; without `counts` the pause does not grow.
    private func noteAttempt(_ plan: Plan, _ facts: System.FileFacts?, counts: Bool = true) {
        plans.withLock { plans in
            guard plans.byName[plan.name.text]?.number == plan.number else { return }
            plans.byName[plan.name.text]?.isBusy = false
            plans.byName[plan.name.text]?.attempts = counts ? plan.attempts + 1 : max(plan.attempts, 1)
            plans.byName[plan.name.text]?.lastTry = .now()
            plans.byName[plan.name.text]?.failedFacts = facts
        }
    }

    /// Makes `error` the reason that clients are given, unless the realm is no longer what the plan was made for.
    private func replaceFailure(_ plan: Plan, _ error: StorageError) {
        guard isCurrent(plan) else { return }
        states.withLock { states in
            if case .failed? = states[plan.name.text] { states[plan.name.text] = .failed(error) }
        }
    }

    /// Whether the plan is still the one of its realm.
    private func isCurrent(_ plan: Plan) -> Bool {
        plans.withLock { !$0.isClosed && $0.byName[plan.name.text]?.number == plan.number }
    }

    /// False when the realm was detached meanwhile, or another one serves the file.
    private func settle(_ database: Database, _ plan: Plan) -> Bool {
        guard isCurrent(plan) else { return false }
        let isSettled = states.withLock { states -> Bool in
            guard case .failed? = states[plan.name.text], Catalog.server(of: database.identity, in: states) == nil
            else { return false }
            states[plan.name.text] = .ready(database)
            return true
        }
        if isSettled { forgetPlan(plan.name.text) } else { noteAttempt(plan, nil) }
        return isSettled
    }
}

extension Database.OpenOptions {
    /// A missing file is not created again, and there is no progress to report.
    fileprivate var forReopening: Database.OpenOptions {
        var options = self
        options.createsMissingFile = false
        options.compaction = nil
        options.control = nil
        return options
    }
}
