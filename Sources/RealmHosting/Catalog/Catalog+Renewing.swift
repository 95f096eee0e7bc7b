// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Compares how realms were opened with how they would be opened now, after the options of the server have changed.
extension Catalog {
    /// A file and how it is opened.
    package struct Opening: Sendable {
        /// The path of the file.
        package var path: String
        package var options: Database.OpenOptions

        /// Makes the value of its parts.
        package init(path: String, options: Database.OpenOptions) {
            self.path = path
            self.options = options
        }

        /// Whether a realm would be served alike by another opening.
        fileprivate func isLike(_ other: Opening) -> Bool { path == other.path && options.isLike(other.options) }
    }

    /// Updates the options of realms that are not open, and finds those that are open with other ones.
    ///
    /// - Parameter wanted: Returns for the name of a realm with a file, and how it was opened, how it should be opened; nil
    ///   when nothing is known about that.
    /// - Returns: The names of the open realms with files that were opened otherwise.
    package func renew(_ wanted: (String, Opening) -> Opening?) -> [String] {
        for (name, state) in all {
            if case .closed(let realm) = state { renew(realm, wanted) }
            if case .failed = state { renewPlan(name, wanted) }
        }
        return openNames.filter { name in
            guard let source = database(name)?.source else { return false }
            let opening = Opening(path: source.path, options: source.options)
            return wanted(name, opening).map { !$0.isLike(opening) } ?? false
        }
    }

    /// Replaces a closed realm by one that is opened otherwise, under a new epoch.
    private func renew(_ realm: ClosedRealm, _ wanted: (String, Opening) -> Opening?) {
        // A realm that takes its options when it is opened has the new ones.
        guard realm.former != nil || !realm.isListed, let options = try? realm.openOptions() else { return }
        let opening = Opening(path: realm.path, options: options)
        guard let new = wanted(realm.name.text, opening), !new.isLike(opening) else { return }
        let next = ClosedRealm(attached: realm.name, path: new.path, new.options.forReopening)
        states.withLock { states in
            guard case .closed(let known)? = states[realm.name.text], known === realm else { return }
            // The data folder makes another one from the options of the server.
            states[realm.name.text] = realm.isListed ? nil : .closed(next)
        }
    }

    /// Reopens a failed realm with other options the next time.
    private func renewPlan(_ name: String, _ wanted: (String, Opening) -> Opening?) {
        guard let (path, options) = failedSource(name) else { return }
        let opening = Opening(path: path, options: options)
        guard let new = wanted(name, opening), new.path == path, !new.isLike(opening) else { return }
        plans.withLock { plans in
            guard plans.byName[name]?.isBusy == false else { return }
            plans.byName[name]?.options = new.options.forReopening
            plans.byName[name]?.failedFacts = nil
        }
    }
}

extension Database.OpenOptions {
    /// Whether the options serve a realm alike. Options of a single opening do not count.
    fileprivate func isLike(_ other: Database.OpenOptions) -> Bool {
        key == other.key && mode == other.mode && limits == other.limits && backlinkNames == other.backlinkNames
            && observation == other.observation && maximumVersionCount == other.maximumVersionCount
            && retention == other.retention
            && upgradesInPlace == other.upgradesInPlace && autoCompaction == other.autoCompaction
            && conditionalClasses == other.conditionalClasses && shownClasses == other.shownClasses
            && defaults.isSame(as: other.defaults) && verification == other.verification
            && keptCopyCount == other.keptCopyCount && followInterval == other.followInterval
            // It is gone from options that a realm was opened with again.
            && (compaction == nil || other.compaction == nil || compaction == other.compaction)
    }
}
