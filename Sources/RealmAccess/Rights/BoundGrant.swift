// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The rights of a role in the classes of a pattern, with the values of the claims in its rules.
struct BoundGrant: Sendable {
    /// The grant in the configuration.
    let grant: ClassGrant
    /// `where`.
    let condition: BoundRule
    /// `where` and `check` of the result of a write.
    let result: BoundRule
    /// The grant for comparisons. Names of roles and places in the file do not matter.
    let form: RightsForm

    /// Gives the claims of a grant their values.
    init(_ grant: ClassGrant, _ claims: JSONObject) {
        self.grant = grant
        condition = BoundRule(grant.condition, claims)
        result = BoundRule(grant.result, claims)
        var form = RightsForm()
        form.add(grant.pattern.text)
        form.add(RightsAction.allCases.filter(grant.actions.contains).map(\.rawValue))
        form.add(condition.form)
        form.add(result.form)
        form.add(grant.hidden)
        form.add(grant.readOnly)
        self.form = form
    }

    /// Returns whether this grant subsumes another one for an action, so that the other one, and the properties that it hides, do
    /// not matter.
    func covers(_ other: BoundGrant, for action: RightsAction) -> Bool {
        guard condition.covers(other.condition), grant.hidden.allSatisfy(other.grant.hidden.contains) else { return false }
        guard action.leavesObjects else { return true }
        return result.covers(other.result) && grant.readOnly.allSatisfy(other.grant.readOnly.contains)
    }

    /// Returns the grants that matter for an action: without those that another one covers, and without those that give it for
    /// no object if another one gives it for some.
    static func essential(_ grants: [BoundGrant], for action: RightsAction) -> [BoundGrant] {
        let useful = grants.filter { !$0.condition.isNothing }
        let candidates = useful.isEmpty ? grants : useful
        var kept: [BoundGrant] = []
        for (index, one) in candidates.enumerated() {
            let isCovered = candidates.enumerated().contains { other, grant in
                guard other != index, grant.covers(one, for: action) else { return false }
                // Of two that cover each other, the first one is kept.
                return other < index || !one.covers(grant, for: action)
            }
            if !isCovered { kept.append(one) }
        }
        return kept
    }
}
