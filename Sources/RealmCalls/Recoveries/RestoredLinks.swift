// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Rewrites the links in former values: those whose targets live or were restored stay, the others are dropped.
struct RestoredLinks {
    /// The former target of a link, with the property that had it.
    struct Dropped {
        let property: String
        let className: String
        let key: String
    }

    /// The state of the target of a link.
    enum Target {
        /// It lives, and is named so.
        case found(LinkInput)
        /// It is restored later in the same request.
        case pending
        /// It does not live.
        case gone
    }

    /// Returns whether an object of the past lives, by class and key.
    let find: (_ className: String, _ key: String) throws(Problem) -> Target
    /// Returns the properties of an embedded class; nil where the names of members are not checked.
    let columns: (TableKey) -> [Column]?
    /// Whether members that embedded classes lack are left out.
    let skipsUnknown: Bool
    /// The links without a target, in the order of the values.
    private(set) var dropped: [Dropped] = []
    /// Whether a link was left out because its target is restored later.
    private(set) var hasPending = false
    /// The property that is rewritten.
    private var property = ""

    private static let maximumDepth = 128

    init(
        find: @escaping (_ className: String, _ key: String) throws(Problem) -> Target,
        columns: @escaping (TableKey) -> [Column]?, skipsUnknown: Bool
    ) {
        (self.find, self.columns, self.skipsUnknown) = (find, columns, skipsUnknown)
    }

    /// Returns the value of a property as it can be written.
    mutating func rewritten(_ value: InputValue, of column: Column) throws(Problem) -> InputValue {
        property = column.name
        return try rewritten(value, column, isElement: false, depth: 0)
    }

    /// Returns a value as it can be written: one of a property, or one in its collection.
    private mutating func rewritten(
        _ value: InputValue, _ column: Column, isElement: Bool, depth: Int
    ) throws(Problem) -> InputValue {
        guard depth < RestoredLinks.maximumDepth else { throw Problem(.notRestorable, "a value is nested too deeply") }
        switch value {
        case .link(let link): return try resolved(link).map { .link($0) } ?? .null
        case .list(let elements):
            // Elements that link to objects are never null.
            let isOfLinks = column.type == .link && !isElement
            var kept: [InputValue] = []
            for element in elements {
                let new = try rewritten(element, column, isElement: true, depth: depth + 1)
                if case .null = new, isOfLinks { continue }
                kept.append(new)
            }
            return .list(kept)
        case .object(let object):
            let isEmbedded = column.type == .link && (isElement || column.collection == nil)
            let inner = isEmbedded ? column.targetTable.flatMap { columns($0) } : nil
            var members: [(name: String, value: InputValue)] = []
            for member in object.members {
                guard let inner else {
                    let new = try rewritten(member.value, column, isElement: true, depth: depth + 1)
                    members.append((member.name, new))
                    continue
                }
                guard let part = inner.first(where: { $0.name == member.name }) else {
                    if !skipsUnknown { members.append(member) }
                    continue
                }
                members.append((member.name, try rewritten(member.value, part, isElement: false, depth: depth + 1)))
            }
            return .object(InputObject(members))
        default: return value
        }
    }

    /// Returns the link as it can be written; nil for one that is dropped or pending.
    private mutating func resolved(_ link: LinkInput) throws(Problem) -> LinkInput? {
        guard case .stub(let className, .text(let key)) = link else { return link }
        switch try find(className, key) {
        case .found(let link): return link
        case .pending: hasPending = true
        case .gone: dropped.append(Dropped(property: property, className: className, key: key))
        }
        return nil
    }
}
