// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The conditions of a write, from `If-Match` and `If-None-Match`.
///
/// They are compared inside the transaction that writes, so nothing can change between the comparison and the write. Only the
/// part of an entity tag that represents the stored state is compared; format and compression do not matter.
package struct WriteCondition: Sendable {
    /// The tags that one of the header fields demands of the object.
    package enum Tags: Sendable, Equatable {
        /// The text `*`: the object exists (`If-Match`), or does not exist (`If-None-Match`).
        case any
        /// The parts of entity tags that represent the stored state: everything before `~`.
        case states([String])
    }

    /// The object has to be in one of these states; nil for no demand.
    package private(set) var ifMatch: Tags?
    /// The object must not be in one of these states; nil for no demand.
    package private(set) var ifNoneMatch: Tags?
    /// The version that has to be the newest one, from `If-Match: "v.<epoch>.<version>"`; nil for no demand.
    package private(set) var version: VersionToken?
    /// Versions in a list of several entity tags, one of which suffices instead of a state in `ifMatch`.
    private var alternatives: [VersionToken] = []

    /// The condition of a write without `If-Match` and `If-None-Match`, which always holds.
    package static let none = WriteCondition()

    /// Creates a condition that demands nothing, and so always holds.
    private init() {}

    /// Creates a condition that demands one state of an object.
    init(ifState state: String) { ifMatch = .states([state]) }

    /// Reads the header fields of a request.
    ///
    /// - Throws: `invalid_parameter` with `header` for a field that is no list of entity tags.
    package init(_ request: Request) throws(Problem) {
        try self.init(
            ifMatch: request[.ifMatch], ifNoneMatch: request[.ifNoneMatch],
            problem: { name, detail in .invalidHeader(name, detail) })
    }

    /// Reads conditions from the texts of the header fields, or from the members of a batch operation.
    ///
    /// A list of exactly one tag of the version form is a condition on the realm instead of the object. In a longer list such a
    /// tag is one of several, as `decided(at:)` finds out.
    ///
    /// - Parameters:
    ///   - ifMatch: The text of `If-Match`; nil when it is absent.
    ///   - ifNoneMatch: The text of `If-None-Match`; nil when it is absent.
    ///   - problem: Makes the problem of a malformed text from the name of the header field and a detail.
    /// - Throws: The problem from `problem`.
    package init(
        ifMatch: String?, ifNoneMatch: String?, problem: (String, String) -> Problem
    ) throws(Problem) {
        if let ifMatch {
            guard let tags = WriteCondition.tags(ifMatch, isStrong: true) else {
                throw problem("If-Match", "the condition is not a list of entity tags")
            }
            self.ifMatch = tags
            if case .states(let states) = tags {
                alternatives = states.compactMap(WriteCondition.version)
                if states.count == 1, let token = alternatives.popLast() {
                    version = token
                    self.ifMatch = nil
                }
            }
        }
        if let ifNoneMatch {
            guard let tags = WriteCondition.tags(ifNoneMatch, isStrong: false) else {
                throw problem("If-None-Match", "the condition is not a list of entity tags")
            }
            self.ifNoneMatch = tags
        }
    }

    package var isEmpty: Bool { ifMatch == nil && ifNoneMatch == nil && version == nil }
    /// Whether the version of the realm has to be known.
    package var namesVersion: Bool { version != nil || !alternatives.isEmpty }
    /// Whether there is a condition on one object, and not only on the version of the realm.
    package var concernsObject: Bool { ifMatch != nil || ifNoneMatch != nil }

    /// Throws `precondition_failed` unless the conditions hold for a request about a realm as a whole.
    ///
    /// Such a request has no object to compare with, so only the version of the realm can be demanded.
    ///
    /// - Parameter version: The newest version of the realm; nil when it has none, because it is not open.
    package func require(_ version: VersionToken?) throws(Problem) {
        let condition = decided(at: version)
        guard !condition.concernsObject else {
            throw Problem(.preconditionFailed, "only a version condition (If-Match: \"v.…\") is supported here")
        }
        guard condition.version == nil || condition.version == version else { throw WriteCondition.stale }
    }

    /// Returns the condition without the choice between versions and states: a demand of the version if the list of `If-Match` names
    /// it, else one of the states alone.
    ///
    /// - Parameter version: The newest version; nil when the realm has none, or when more was written since.
    package func decided(at version: VersionToken?) -> WriteCondition {
        guard !alternatives.isEmpty else { return self }
        var decided = self
        decided.alternatives = []
        if let version, alternatives.contains(version) { (decided.ifMatch, decided.version) = (nil, version) }
        return decided
    }

    /// Throws `precondition_failed` when there is a condition on an object that does not exist yet. `If-None-Match: *` holds
    /// then.
    package func requireNothing() throws(Problem) {
        guard ifMatch == nil, version == nil else { throw WriteCondition.stale }
    }

    /// The problem of a request that demands another version than the newest.
    package static let stale = Problem(.preconditionFailed, "the realm has another version than the request was made for")

    /// Returns whether the conditions on the object hold. The version is not compared here.
    ///
    /// - Parameter state: The state part of the object's entity tag; nil when there is no object.
    package func holds(_ state: String?) -> Bool {
        switch ifMatch {
        case nil: break
        case .any: guard state != nil else { return false }
        case .states(let states): guard let state, states.contains(state) else { return false }
        }
        switch ifNoneMatch {
        case nil: return true
        case .any: return state == nil
        case .states(let states): return state.map { !states.contains($0) } ?? true
        }
    }

    /// Returns the state part of an entity tag: the text before `~`, without the quotes.
    package static func state(ofTag tag: String) -> String {
        let inner = tag.hasPrefix("\"") ? tag.dropFirst() : tag[...]
        return String(inner.prefix { $0 != "~" && $0 != "\"" })
    }

    /// Returns the version that a state part of the form `v.<epoch>.<version>` names; nil for any other.
    private static func version(_ state: String) -> VersionToken? {
        state.hasPrefix("v.") ? VersionToken(state.dropFirst(2)) : nil
    }

    /// Returns the demands of a header field; nil for text that is no list of entity tags.
    ///
    /// - Parameters:
    ///   - text: The value of the header field.
    ///   - isStrong: Whether weak tags are left out, because they never match in the strong
    ///     comparison of `If-Match`.
    private static func tags(_ text: String, isStrong: Bool) -> Tags? {
        guard let list = EntityTagList(text) else { return nil }
        if list.isAny { return .any }
        return .states(list.tags.compactMap { $0.isWeak && isStrong ? nil : state(ofTag: String($0.text)) })
    }
}
