// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// `If-Match` and `If-None-Match` of a write. They are compared inside the transaction that writes.
struct WriteCondition: Sendable {
    /// What a header field asks of the object.
    enum Tags: Sendable, Equatable {
        case any
        /// The parts of entity tags that tell what is stored.
        case states([String])
    }

    private(set) var ifMatch: Tags?
    private(set) var ifNoneMatch: Tags?
    /// Nobody may have committed since this version.
    private(set) var version: VersionToken?

    static let none = WriteCondition()

    private init() {}

    init(_ request: Request) throws(Problem) {
        try self.init(
            ifMatch: request.headers[.ifMatch], ifNoneMatch: request.headers[.ifNoneMatch],
            problem: { name, detail in .invalidHeader(name, detail) })
    }

    /// The same conditions as members of an operation.
    init(
        ifMatch: String?, ifNoneMatch: String?, problem: (String, String) -> Problem
    ) throws(Problem) {
        if let ifMatch {
            guard let tags = WriteCondition.tags(ifMatch, isStrong: true) else {
                throw problem("If-Match", "the condition is no list of entity tags")
            }
            self.ifMatch = tags
            if case .states(let states) = tags, states.count == 1, let token = WriteCondition.version(states[0]) {
                version = token
                self.ifMatch = nil
            }
        }
        if let ifNoneMatch {
            guard let tags = WriteCondition.tags(ifNoneMatch, isStrong: false) else {
                throw problem("If-None-Match", "the condition is no list of entity tags")
            }
            self.ifNoneMatch = tags
        }
    }

    var isEmpty: Bool { ifMatch == nil && ifNoneMatch == nil && version == nil }
    /// Whether something is asked of one object.
    var concernsObject: Bool { ifMatch != nil || ifNoneMatch != nil }

    /// Whether the conditions on the object hold; `state` is that of the object, nil when there is none.
    func holds(_ state: String?) -> Bool {
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

    /// The part of an entity tag before `~`, without quotes.
    static func state(ofTag tag: String) -> String {
        let inner = tag.hasPrefix("\"") ? tag.dropFirst() : tag[...]
        return String(inner.prefix { $0 != "~" && $0 != "\"" })
    }

    /// The version in `v.<epoch>.<version>`.
    private static func version(_ state: String) -> VersionToken? {
        state.hasPrefix("v.") ? VersionToken(state.dropFirst(2)) : nil
    }

    /// Nil for text that is no list of tags. Weak tags never match where the strong comparison is asked for.
    private static func tags(_ text: String, isStrong: Bool) -> Tags? {
        guard let list = EntityTagList(text) else { return nil }
        if list.isAny { return .any }
        return .states(list.tags.compactMap { $0.isWeak && isStrong ? nil : state(ofTag: String($0.text)) })
    }
}
