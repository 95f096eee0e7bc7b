// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The registered subscriptions that are not notified of one write, from its header field `Realm-Without-Notifying`.
///
/// A client names its own subscription there when it has applied the change already. The mark goes
/// along with the write to its commit. The subscriptions then get an empty change set for that
/// version. Where too many such versions wait for an evaluation they get the contents again.
package struct SkipMark: Sendable {
    /// The registered subscriptions that are not notified of the write.
    package let subs: [ReadSubscription]

    /// The same as the field names them.
    package let names: [String]

    /// The action that the commit carries. The hub calls it with the version after all feeds have
    /// the changes and before that version is published, so no client reads them earlier.
    package var commitMark: CommitMark {
        CommitMark(skips: names, listeners: Set(subs.map { ObjectIdentifier($0.feed) })) { [subs] version, missed in
            for sub in subs {
                if missed.contains(ObjectIdentifier(sub.feed)) { sub.skips?.lose(upTo: version) } else { sub.skips?.add(version) }
                sub.feed.noteChange()
            }
        }
    }
}

/// Reading the header field of a write that names subscriptions to skip.
extension SkipMark {
    /// Reads `Realm-Without-Notifying`: ids of registrations separated by commas, each optionally
    /// followed by a slash and the name of one subscription.
    ///
    /// Registrations that have ended are ignored, also those that are forgotten: an id that never was has another form.
    ///
    /// - Parameters:
    ///   - database: The realm that it writes.
    ///   - table: The registrations of the server.
    ///   - isShared: Whether other nodes serve the realm too. An id that is unknown here may be known
    ///     there, and is passed on.
    /// - Returns: nil without the header field, and when all named registrations have ended.
    /// - Throws: `invalid_parameter` for an id that never was, or belongs to another client or realm, and for a name that the
    ///   registration does not have.
    package init?(
        _ call: Call, _ database: Database, _ table: RegistrationTable, isShared: Bool
    ) throws(Problem) {
        guard let text = call.request[.realmWithoutNotifying] else { return nil }
        var subs: [ReadSubscription] = []
        var names: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.withoutBlanks.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let id = String((words.first ?? "").withoutBlanks)
            if id.isEmpty, words.count < 2 { continue }
            let name = words.count > 1 ? String(words[1]) : nil
            let registration: Registration?
            do throws(Problem) {
                registration = try table.find(id: id, in: database, for: call)
            } catch {
                continue
            }
            guard let registration else {
                guard Registration.isPossibleID(id), !table.contains(id), !isShared || names.count < SkipMark.strangerLimit else {
                    throw .invalidHeader("Realm-Without-Notifying", "one of the registration ids is unknown")
                }
                if isShared { names.append(String(part.withoutBlanks)) }
                continue
            }
            guard let named = registration.skipped(name) else {
                throw .invalidHeader("Realm-Without-Notifying", "one of the registrations has no subscription of the given name")
            }
            subs += named
            names.append(String(part.withoutBlanks))
        }
        guard !names.isEmpty else { return nil }
        self.subs = subs
        self.names = names
    }

    /// The number of registrations of other nodes that a write may name.
    private static let strangerLimit = 64

    /// Finds the subscriptions that a write on another node has named; nil when none of them is registered here.
    ///
    /// - Parameters:
    ///   - names: The names as the header field has them.
    ///   - database: The realm.
    ///   - table: The registrations of the server.
    package init?(_ names: [String], _ database: Database, _ table: RegistrationTable) {
        var subs: [ReadSubscription] = []
        for name in names {
            let words = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let id = String((words.first ?? "").withoutBlanks)
            guard let registration = table.registration(id, of: database) else { continue }
            subs += registration.skipped(words.count > 1 ? String(words[1]) : nil) ?? []
        }
        guard !subs.isEmpty else { return nil }
        self.subs = subs
        self.names = names
    }
}
