// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The rights of a role in the classes of a pattern in a realm.
package final class ClassGrant: Sendable {
    let pattern: NamePattern
    /// The permitted actions.
    let actions: Set<RightsAction>
    /// The objects for which it is allowed; nil for all.
    let condition: RuleTemplate?
    /// The rule for an object after it was created or changed: `where` and `check` together; nil for none.
    let result: RuleTemplate?
    /// `check` alone, to name the reason of a refusal.
    let check: RuleTemplate?
    /// The properties that do not exist for the role, sorted.
    let hidden: [String]
    /// The properties that the role may not write, sorted.
    let readOnly: [String]
    /// The place in the configuration as a JSON Pointer.
    let pointer: String

    /// Makes a grant of rules that were parsed.
    ///
    /// - Parameters:
    ///   - actions: The permitted actions.
    ///   - rules: `where`, `check`, and both combined.
    ///   - hidden: The properties that do not exist for the role.
    ///   - readOnly: The properties that the role may not write.
    ///   - pointer: The place in the configuration as a JSON Pointer.
    package init(
        _ pattern: NamePattern, _ actions: Set<RightsAction>, rules: Rules = Rules(), hidden: Set<ByteText> = [],
        readOnly: Set<ByteText> = [], pointer: String = ""
    ) {
        self.pattern = pattern
        self.actions = actions
        condition = rules.condition
        check = rules.check
        result = rules.result
        self.hidden = hidden.sorted().texts
        self.readOnly = readOnly.sorted().texts
        self.pointer = pointer
    }

    /// The queries of a grant.
    package struct Rules: Sendable {
        /// `where`.
        package var condition: RuleTemplate?
        /// `check`.
        package var check: RuleTemplate?
        /// Both together.
        package var result: RuleTemplate?

        package init(condition: RuleTemplate? = nil, check: RuleTemplate? = nil, result: RuleTemplate? = nil) {
            self.condition = condition
            self.check = check
            self.result = result
        }
    }

    /// Whether the grant names anything that a schema may lack.
    var namesSchema: Bool { condition != nil || check != nil || !hidden.isEmpty || !readOnly.isEmpty }

    /// The claims that the rules name.
    var claims: [ClaimPath] { (condition?.uses ?? []).map(\.path) + (check?.uses ?? []).map(\.path) }
}
