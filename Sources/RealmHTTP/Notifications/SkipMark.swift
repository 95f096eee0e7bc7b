// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// What a write says of subscriptions that shall not hear of it; it goes along with its commit.
struct SkipMark: Sendable {
    let subs: [ReadSubscription]

    /// The mark that goes along with the commit. When it is called all feeds have the commit, and nobody has read it yet.
    var commitMark: CommitMark {
        CommitMark { [subs] version in
            for sub in subs {
                sub.skips?.add(version)
                sub.feed.noteChange()
            }
        }
    }
}

extension SkipMark {
    /// Reads `Realm-Without-Notifying`: registrations, each perhaps with one name behind a slash.
    ///
    /// Those that have ended are left out. Nil where nothing is to be skipped.
    init?(_ request: Request, _ database: Database, _ table: RegistrationTable) throws(Problem) {
        guard let text = request.headers[.realmWithoutNotifying] else { return nil }
        var subs: [ReadSubscription] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.withoutBlanks.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let id = String((words.first ?? "").withoutBlanks)
            if id.isEmpty, words.count < 2 { continue }
            let name = words.count > 1 ? String(words[1]) : nil
            let registration: Registration?
            do throws(Problem) {
                registration = try table.find(id: id, in: database)
            } catch {
                continue
            }
            guard let registration else {
                throw .invalidHeader("Realm-Without-Notifying", "there never was a registration of an id that is named")
            }
            guard let named = registration.skipped(name) else {
                throw .invalidHeader("Realm-Without-Notifying", "a registration has no subscription of a name that is given")
            }
            subs += named
        }
        guard !subs.isEmpty else { return nil }
        self.subs = subs
    }
}
