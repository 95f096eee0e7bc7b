// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The query of a rule with the values of the claims that it names.
enum BoundRule: Sendable {
    /// There is no rule: every object satisfies it.
    case everything
    /// A claim is lacking or cannot be used: no object satisfies it.
    case nothing
    /// The objects that match a query. The form is equal exactly for equal queries with equal values.
    case matching(RowRule.Alternative, form: RightsForm)

    /// Gives the claims of a rule their values.
    ///
    /// - Parameters:
    ///   - template: The query; nil for no rule.
    ///   - claims: The claims of the principal.
    init(_ template: RuleTemplate?, _ claims: JSONObject) {
        guard let template else {
            self = .everything
            return
        }
        var arguments: [QueryArgument] = []
        var form = RightsForm()
        form.add(template.text)
        for use in template.uses {
            guard let bound = ClaimValue.bound(use.path.value(in: claims), isList: use.isList) else {
                self = .nothing
                return
            }
            arguments.append(bound.argument)
            form.add(bound.form)
        }
        self = .matching(RowRule.Alternative(template.query, arguments), form: form)
    }

    /// The rule for comparisons.
    var form: RightsForm {
        var form = RightsForm()
        switch self {
        case .everything: form.add("everything")
        case .nothing: form.add("nothing")
        case .matching(_, let rule): form.add(rule)
        }
        return form
    }

    /// Whether every object satisfies it.
    var isEverything: Bool { if case .everything = self { true } else { false } }
    /// Whether no object satisfies it.
    var isNothing: Bool { if case .nothing = self { true } else { false } }

    /// Returns whether every object that satisfies another rule is known to satisfy this one.
    func covers(_ other: BoundRule) -> Bool { isEverything || form == other.form }

    /// Returns the queries of which an object has to match one, so that it satisfies any of some rules; nil when every object does.
    static func alternatives(_ rules: [BoundRule]) -> [RowRule.Alternative]? {
        var known: Set<RightsForm> = []
        var alternatives: [RowRule.Alternative] = []
        for rule in rules {
            switch rule {
            case .everything: return nil
            case .nothing: break
            case .matching(let alternative, let form):
                if known.insert(form).inserted { alternatives.append(alternative) }
            }
        }
        return alternatives
    }
}
