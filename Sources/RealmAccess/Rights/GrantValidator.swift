// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage
internal import RealmStorage

/// Checks whether the grant of a role fits a class.
///
/// Claims have no values here, as the result has to be the same for all holders of the role: values of each type are tried in
/// their places, and the rule fits if it can be bound with one of them.
struct GrantValidator {
    /// Something that does not fit.
    struct Misfit {
        /// The part of the grant, as it follows the grant in a JSON Pointer.
        let part: String
        /// The error message.
        let text: String
    }

    /// A class in a version.
    let table: Table
    /// The version.
    let snapshot: Snapshot

    /// The values that are tried in the place of a claim.
    private static let trials: [QueryArgument] = [.text("0"), .null, .int(0), .bool(true), .double(0)]

    /// Returns the parts of a grant that do not fit the class.
    func misfits(_ grant: ClassGrant) -> [Misfit] {
        var misfits: [Misfit] = []
        if table.kind == .embedded {
            // Rules are for the owners, and a pattern for many classes means those.
            if grant.pattern.name != nil, grant.condition != nil || grant.check != nil {
                let part = grant.condition == nil ? "/check" : "/where"
                misfits.append(
                    Misfit(part: part, text: "objects of an embedded class are seen with their owners, and have no rule"))
            }
        } else {
            if let misfit = misfit(grant.condition, "/where") { misfits.append(misfit) }
            if let misfit = misfit(grant.check, "/check") { misfits.append(misfit) }
        }
        misfits += self.misfits(grant.hidden, "/fields/hide") + self.misfits(grant.readOnly, "/fields/readOnly")
        return misfits
    }

    /// Returns which names are not those of properties.
    private func misfits(_ names: [String], _ part: String) -> [Misfit] {
        names.filter { table.column(named: $0) == nil }.map { name in
            let hint = Suggestion.hint(for: name, in: table.columns.map(\.name))
            return Misfit(part: part, text: "'\(table.className ?? "")' has no property '\(name)'\(hint)")
        }
    }

    /// Returns why a query does not fit; nil when it does.
    private func misfit(_ template: RuleTemplate?, _ part: String) -> Misfit? {
        guard let template, let error = defect(of: template) else { return nil }
        return Misfit(part: part, text: "\(template.explained(error))")
    }

    /// Returns the error of a query that occurs with any claims; nil when there is none.
    private func defect(of template: RuleTemplate) -> QueryError? {
        var errors: [QueryError] = []
        for trial in template.uses.isEmpty ? [.null] : GrantValidator.trials {
            let arguments = template.uses.map { $0.isList ? QueryArgument.list([trial]) : trial }
            guard let error = RowRule.defect(of: RowRule.Alternative(template.query, arguments), for: table, in: snapshot) else {
                return nil
            }
            errors.append(error)
        }
        // Errors in names hold for all values. Errors in values may be due to those that were tried.
        if let error = errors.first(where: { !GrantValidator.mayDependOnValues($0) }) { return error }
        return template.uses.isEmpty || !errors.contains(where: GrantValidator.isAboutArgument) ? errors.first : nil
    }

    /// Whether a query with this error may be valid with another value of a claim.
    private static func mayDependOnValues(_ error: QueryError) -> Bool {
        guard case .invalid(let kind, _, _, _, _) = error else { return false }
        return kind == .argument || kind == .typeMismatch || kind == .geospatial
    }

    /// Whether an argument of the query, which is the value of a claim, or a shape caused the error.
    private static func isAboutArgument(_ error: QueryError) -> Bool {
        guard case .invalid(let kind, _, _, _, _) = error else { return false }
        return kind == .argument || kind == .geospatial
    }
}
