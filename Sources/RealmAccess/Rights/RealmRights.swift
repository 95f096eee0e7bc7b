// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The rights of a principal in one realm: those of its roles, with the values of its claims.
///
/// Principals with equal rights may share one value. Everything that is not stated here is denied.
package final class RealmRights: Sendable {
    /// A grant that was lost in a class, because it does not fit the schema.
    struct Loss: Hashable {
        /// The position of the part.
        let part: Int
        /// The pattern of the grant.
        let pattern: String
        let className: String
    }

    /// The facts about the last schema that was requested.
    private struct Fitted {
        let schema: SchemaFingerprint
        /// The rights that fit the schema; nil when all fit.
        let rights: RealmRights?
    }

    /// A text that is equal exactly for equal rights: the same rules with the same values of claims. Principals with one identity
    /// may share all results that depend on rights. Its length is bounded.
    package let identity: String
    /// Whether the principal may operate the server, and everything else.
    package let administers: Bool
    /// Whether everything in the realm is allowed.
    package let isWhole: Bool
    /// The rights in addition to classes.
    private let whole: RealmGrant.Whole
    /// The grants of each role in classes, in the order of their forms, each once.
    private let parts: [[BoundGrant]]
    /// The grants that do not fit the schema.
    private let losses: Set<Loss>
    /// The rights in the classes that were asked for, by name.
    private let known = RankedMutex(.leaf, [ByteText: ClassRights]())
    /// The rights for the last schema.
    private let fitted = RankedMutex<Fitted?>(.leaf, nil)

    /// The number of classes whose rights are remembered: names come from requests.
    private static let knownLimit = 256

    static let nothing = RealmRights([], JSONObject([]))

    /// Makes the rights to do everything in a realm.
    ///
    /// - Parameter administers: Whether the server may be operated as well.
    init(everything administers: Bool) {
        identity = administers ? "administer" : "everything"
        self.administers = administers
        isWhole = true
        whole = .everything
        parts = []
        losses = []
    }

    /// Adds up the grants of roles in a realm.
    ///
    /// - Parameters:
    ///   - grants: Those of all roles.
    ///   - claims: The claims of the principal.
    init(_ grants: [RealmGrant], _ claims: JSONObject) {
        var whole = RealmGrant.Whole()
        var forms: [RightsForm: [BoundGrant]] = [:]
        for grant in grants {
            whole.formUnion(grant.whole)
            let bound = grant.classes.map { BoundGrant($0, claims) }
            var form = RightsForm()
            for one in bound.map(\.form).sorted(by: RightsForm.precedes) { form.add(one) }
            forms[form] = bound
        }
        let sorted = forms.sorted { RightsForm.precedes($0.key, $1.key) }
        var form = RightsForm()
        form.add(whole.form)
        for (part, _) in sorted where !part.bytes.isEmpty { form.add(part) }
        identity = form.digest
        administers = false
        isWhole = false
        self.whole = whole
        parts = sorted.filter { !$0.key.bytes.isEmpty }.map(\.value)
        losses = []
    }

    /// Makes the rights that fit a schema.
    private init(_ rights: RealmRights, losing losses: Set<Loss>) {
        var form = RightsForm()
        form.add(rights.identity)
        for loss in losses.map({ [String($0.part), $0.pattern, $0.className] }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            form.add(loss)
        }
        identity = form.digest
        administers = rights.administers
        isWhole = rights.isWhole
        whole = rights.whole
        parts = rights.parts
        self.losses = losses
    }

    // MARK: - The realm

    /// Whether interactive transactions are allowed.
    package var mayUseTransactions: Bool { whole.transactions }
    package var mayExport: Bool { whole.export }
    /// Whether an export may be imported. Each object needs the right to make or change it.
    package var mayImport: Bool { whole.import }
    /// Whether the schema may be changed.
    package var mayMigrate: Bool { whole.migrate }
    /// Whether links to objects that cannot be seen are shown as stubs with the key.
    package var showsHiddenLinks: Bool { whole.showHiddenLinks }

    /// Whether there is no right at all, so that the realm does not exist for the principal.
    package var isNothing: Bool {
        !isWhole && !whole.isRight && parts.allSatisfy { $0.allSatisfy(\.grant.actions.isEmpty) }
    }

    /// Whether an action reaches all objects of all classes with all of their properties, under any schema.
    ///
    /// - Parameter action: One of the actions of classes.
    func reachesEverything(by action: RightsAction) -> Bool {
        if isWhole { return true }
        let grants = parts.joined()
        guard losses.isEmpty, grants.allSatisfy(\.grant.hidden.isEmpty) else { return false }
        return parts.contains { part in
            part.contains { $0.grant.pattern.isAll }
                && part.allSatisfy { $0.grant.actions.contains(action) && $0.grant.condition == nil }
        }
    }

    /// Returns whether any class allows one of some actions.
    func allows(_ actions: Set<RightsAction>) -> Bool {
        parts.contains { $0.contains { !$0.grant.actions.isDisjoint(with: actions) } }
    }

    // MARK: - Classes

    /// Returns the rights in a class.
    ///
    /// - Parameter className: The name as the file has it.
    package func rights(on className: String) -> ClassRights {
        if isWhole { return .everything }
        if let rights = known.withLock({ $0[className] }) { return rights }
        let rights = ClassRights(grants(on: className))
        known.withLock { known in
            if known.count < RealmRights.knownLimit { known[className] = rights }
        }
        return rights
    }

    /// Returns the grants in a class: of each role the narrowest pattern, unless it is lost.
    private func grants(on className: String) -> [BoundGrant] {
        parts.enumerated().compactMap { index, part in
            guard let grant = RealmRights.grant(part, on: className) else { return nil }
            return losses.contains(loss(index, grant, className)) ? nil : grant
        }
    }

    /// Returns the grant of one role in a class; nil for none.
    private static func grant(_ part: [BoundGrant], on className: String) -> BoundGrant? {
        Role.narrowest(part.filter { $0.grant.pattern.fits(class: className) }, \.grant.pattern.narrowness).first
    }

    private func loss(_ part: Int, _ grant: BoundGrant, _ className: String) -> Loss {
        Loss(part: part, pattern: grant.grant.pattern.text, className: className)
    }

    /// Returns the actions that are permitted in a class, for some of its objects at least.
    package func actions(on className: String) -> Set<RightsAction> { rights(on: className).actions }

    /// Returns the queries of which an object has to match one for an action; nil when there is no condition. Without the right
    /// the list is empty.
    package func alternatives(on className: String, for action: RightsAction) -> [RowRule.Alternative]? {
        guard let allowance = rights(on: className).allowances[action] else { return [] }
        return allowance.alternatives
    }

    /// Returns the queries of which an object has to match one after it was made or changed; nil when there is none. Without the
    /// right the list is empty.
    package func checks(on className: String, for action: RightsAction) -> [RowRule.Alternative]? {
        guard let allowance = rights(on: className).allowances[action] else { return [] }
        return allowance.checks
    }

    /// Returns the properties that do not exist for an action.
    package func hidden(on className: String, for action: RightsAction = .read) -> Set<ByteText> {
        rights(on: className).allowances[action]?.hidden ?? []
    }

    /// Returns the properties that an action may not write.
    package func readOnly(on className: String, for action: RightsAction = .update) -> Set<ByteText> {
        rights(on: className).allowances[action]?.readOnly ?? []
    }

    // MARK: - Schemas

    /// Returns the rights that fit the schema of a version: a role loses the classes for which it names missing properties.
    ///
    /// Code that applies rights to a version has to use these. It costs a comparison of the schema with that of the last version.
    ///
    /// - Parameter snapshot: The whole version.
    package func fitting(_ snapshot: Snapshot) -> RealmRights {
        guard parts.contains(where: { $0.contains(where: \.grant.namesSchema) }) else { return self }
        if let last = fitted.withLock({ $0 }), last.schema.describes(snapshot) { return last.rights ?? self }
        let losses = lost(in: snapshot)
        let rights = losses.isEmpty ? nil : RealmRights(self, losing: losses)
        let next = Fitted(schema: SchemaFingerprint(snapshot), rights: rights)
        let previous = fitted.withLock { fitted -> Fitted? in
            let previous = fitted
            fitted = next
            return previous
        }
        withExtendedLifetime(previous) {}
        return rights ?? self
    }

    /// Returns which grants do not fit the schema of a version.
    private func lost(in snapshot: Snapshot) -> Set<Loss> {
        var losses: Set<Loss> = []
        for table in snapshot.classes {
            guard let className = table.className else { continue }
            let fit = GrantValidator(table: table, snapshot: snapshot)
            for (index, part) in parts.enumerated() {
                guard let grant = RealmRights.grant(part, on: className), grant.grant.namesSchema else { continue }
                if !fit.misfits(grant.grant).isEmpty { losses.insert(loss(index, grant, className)) }
            }
        }
        return losses
    }

    /// Returns whether a role has lost a class.
    func hasLost(_ className: String) -> Bool { losses.contains { $0.className == className } }
}
