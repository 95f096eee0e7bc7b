// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The rights in one class: the sum of its grants.
///
/// For each action an object has to satisfy the condition of any grant that gives the action, and the result of a write has to
/// satisfy `where` and `check` of any such grant, which may be another one. A property is hidden, or read-only, if it is in any
/// of the grants that matter: this cannot depend on the object.
package struct ClassRights: Sendable {
    /// The rights for one action.
    package struct Allowance: Sendable {
        /// The queries of which an object has to match one; nil for every object.
        package let alternatives: [RowRule.Alternative]?
        /// The queries of which an object has to match one after it was made or changed; nil for every object.
        package let checks: [RowRule.Alternative]?
        /// The properties that do not exist.
        package let hidden: Set<ByteText>
        /// The properties that may not be written.
        package let readOnly: Set<ByteText>

        /// Every object, with all properties.
        static let everything = Allowance(alternatives: nil, checks: nil, hidden: [], readOnly: [])
    }

    /// The rights by action; actions that are not allowed are absent.
    package let allowances: [RightsAction: Allowance]

    /// The properties that any grant hides, whatever it allows. They count for embedded classes, which need no separate right.
    let hidden: Set<ByteText>
    /// The properties that any grant protects, whatever it allows.
    let readOnly: Set<ByteText>

    /// All actions for all objects.
    static let everything = ClassRights(
        allowances: Dictionary(uniqueKeysWithValues: RightsAction.ofClasses.map { ($0, .everything) }))

    /// Makes rights that are known.
    private init(allowances: [RightsAction: Allowance]) {
        self.allowances = allowances
        hidden = []
        readOnly = []
    }

    /// Adds up grants.
    init(_ grants: [BoundGrant]) {
        var allowances: [RightsAction: Allowance] = [:]
        for action in RightsAction.ofClasses {
            let giving = grants.filter { $0.grant.actions.contains(action) }
            guard !giving.isEmpty else { continue }
            let essential = BoundGrant.essential(giving, for: action)
            allowances[action] = Allowance(
                alternatives: BoundRule.alternatives(essential.map(\.condition)),
                checks: action.leavesObjects ? BoundRule.alternatives(essential.map(\.result)) : nil,
                hidden: Set(texts: essential.flatMap(\.grant.hidden)), readOnly: Set(texts: essential.flatMap(\.grant.readOnly)))
        }
        self.allowances = allowances
        hidden = Set(texts: grants.flatMap(\.grant.hidden))
        readOnly = Set(texts: grants.flatMap(\.grant.readOnly))
    }

    /// The actions that are permitted in the class for some objects at least, as far as rules and claims decide it.
    package var actions: Set<RightsAction> { Set(allowances.keys) }
}
