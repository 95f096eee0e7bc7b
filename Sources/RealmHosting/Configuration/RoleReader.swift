// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Reads the roles of a configuration file.
///
/// It is as strict as it can be without a schema: a member that is unknown or cannot be combined with the others is refused, and
/// the queries of rules are parsed.
struct RoleReader {
    /// The reader of the value of `roles`.
    let reader: SettingReader

    /// The members of a rule for classes.
    private static let ruleMembers = ["allow", "where", "check", "fields"]
    /// The members of a rule for realms.
    private static let realmMembers = ["classes", "transactions", "export", "import", "migrate", "showHiddenLinks"]

    /// The reason why links to hidden objects cannot be shown: positions in collections, their counts and queries are those of
    /// the visible part, and a stub in a response would contradict all of them.
    private static let noStubs =
        "'showHiddenLinks: true' is not available: links to objects that a role does not see are null, and left out of lists and sets"

    func book(_ json: JSONValue) throws(Problem) -> RoleBook {
        var roles: [Role] = []
        for (name, value) in try reader.members(json) {
            let inner = reader.inside(name)
            guard Role.isName(name) else { throw inner.problem(Role.rule) }
            guard roles.count < RoleBook.countLimit else {
                throw inner.problem("there are more than \(RoleBook.countLimit) roles")
            }
            roles.append(try role(name, value, inner))
        }
        return RoleBook(roles, entry: json.object ?? JSONObject([]))
    }

    private func role(_ name: String, _ json: JSONValue, _ reader: SettingReader) throws(Problem) -> Role {
        guard name != RoleBook.reader else {
            throw reader.problem("'\(name)' is built in, with the right to read everything: choose another name")
        }
        let object = try SchemaReader(place: reader.place).members(json, ["realms", "administer", "limits"], reader.place)
        let administers = try object["administer"].map { json throws(Problem) in try reader.inside("administer").flag(json) }
        guard name != RoleBook.administrator || administers == true else {
            throw reader.problem("'\(name)' is the role of administrators, and must say 'administer: true'")
        }
        var realms: [RealmGrant] = []
        if let json = object["realms"] {
            let inner = reader.inside("realms")
            for (name, value) in try inner.members(json) { realms.append(try realm(name, value, inner.inside(name))) }
        }
        let limits = try object["limits"].map { json throws(Problem) in try self.limits(json, reader.inside("limits")) }
        return Role(name, administers: administers ?? false, realms, limits: limits ?? PrincipalLimits())
    }

    private func limits(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> PrincipalLimits {
        var limits = PrincipalLimits()
        for (text, value) in try reader.members(json) {
            let inner = reader.inside(text)
            guard let name = PrincipalLimits.Name(rawValue: text),
                let entry = Limits.entries.first(where: { $0.name == text })
            else {
                let names = PrincipalLimits.Name.allCases.map(\.rawValue)
                let hint = Suggestion.hint(for: text, in: names)
                throw inner.problem("a role has no limit '\(text)'\(hint); it may have: \(names.joined(separator: ", "))")
            }
            var stated = Limits()
            do throws(Limits.Rejection) {
                try stated.set(entry, Quantity.whole(value).map { String($0) } ?? value.string ?? "")
            } catch {
                throw inner.problem(error.text)
            }
            limits[name] = stated[keyPath: entry.path]
        }
        return limits
    }

    /// Reads the rights of a role in the realms of a pattern.
    private func realm(_ text: String, _ json: JSONValue, _ reader: SettingReader) throws(Problem) -> RealmGrant {
        guard let pattern = NamePattern(realms: text) else { throw reader.problem(NamePattern.ruleOfRealms) }
        let object = try SchemaReader(place: reader.place).members(json, RoleReader.realmMembers, reader.place)
        var whole = RealmGrant.Whole()
        for (name, path) in RoleReader.flags {
            if let json = object[name] { whole[keyPath: path] = try reader.inside(name).flag(json) }
        }
        guard !whole.showHiddenLinks else { throw reader.inside("showHiddenLinks").problem(RoleReader.noStubs) }
        var classes: [ClassGrant] = []
        if let json = object["classes"] {
            let inner = reader.inside("classes")
            for (name, value) in try inner.members(json) { classes.append(try grant(name, value, inner.inside(name))) }
        }
        return RealmGrant(pattern, classes, whole)
    }

    /// The rights in a whole realm by the names of their members.
    private static var flags: [(String, WritableKeyPath<RealmGrant.Whole, Bool>)] {
        [
            ("transactions", \.transactions), ("export", \.export), ("import", \.import), ("migrate", \.migrate),
            ("showHiddenLinks", \.showHiddenLinks),
        ]
    }

    // MARK: - Classes

    /// Reads the rights of a role in the classes of a pattern: a list of actions, or an object with rules.
    private func grant(_ text: String, _ json: JSONValue, _ reader: SettingReader) throws(Problem) -> ClassGrant {
        guard let pattern = NamePattern(classes: text) else { throw reader.problem(NamePattern.ruleOfClasses) }
        let pointer = reader.place.pointer
        if json.array != nil { return ClassGrant(pattern, try actions(json, reader), pointer: pointer) }
        guard json.object != nil else {
            throw reader.problem("expected a list of actions or an object, got \(json.kind)")
        }
        let object = try SchemaReader(place: reader.place).members(json, RoleReader.ruleMembers, reader.place)
        guard let allow = object["allow"] else { throw reader.problem("'allow' is missing") }
        let allowed = try actions(allow, reader.inside("allow"))
        let leavesObjects = allowed.contains(where: \.leavesObjects)
        guard object["check"] == nil || leavesObjects else {
            throw reader.inside("check").problem("'check' is for create and update, of which 'allow' has none")
        }
        let (hidden, readOnly) = try fields(object["fields"], reader.inside("fields"))
        return ClassGrant(
            pattern, allowed, rules: try rules(object, reader), hidden: hidden, readOnly: readOnly, pointer: pointer)
    }

    private func actions(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> Set<RightsAction> {
        let names = RightsAction.allCases.filter(RightsAction.ofClasses.contains).map(\.rawValue)
        return Set(
            try reader.list(json) { reader, one throws(Problem) in
                let text = try reader.text(one)
                switch RightsAction(rawValue: text) {
                case .migrate?:
                    throw reader.problem("'migrate' is a right in a whole realm: write 'migrate: true' next to 'classes'")
                case .administer?:
                    throw reader.problem("'administer' is a right in the whole server: write 'administer: true' in the role")
                case let action?: return action
                case nil:
                    let hint = Suggestion.hint(for: text, in: names)
                    throw reader.problem("'\(text)' must be one of: \(names.joined(separator: ", "))\(hint)")
                }
            })
    }

    private func rules(_ object: JSONObject, _ reader: SettingReader) throws(Problem) -> ClassGrant.Rules {
        var rules = ClassGrant.Rules()
        rules.condition = try object["where"].map { json throws(Problem) in try query(json, reader.inside("where")) }
        rules.check = try object["check"].map { json throws(Problem) in try query(json, reader.inside("check")) }
        switch (rules.condition, rules.check) {
        case (let condition?, let check?):
            // The result of a write has to satisfy both, by any grant: so both are one query.
            rules.result = try parse("(\(condition.text)) AND (\(check.text))", reader.inside("check"))
        case (let condition, let check): rules.result = condition ?? check
        }
        return rules
    }

    private func query(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> RuleTemplate {
        try parse(try reader.text(json), reader)
    }

    /// Parses a query.
    private func parse(_ text: String, _ reader: SettingReader) throws(Problem) -> RuleTemplate {
        do throws(QueryError) { return try RuleTemplate.parse(text) } catch { throw reader.problem("\(error)") }
    }

    /// Reads the properties that do not exist for a role and those that it may not write.
    private func fields(
        _ json: JSONValue?, _ reader: SettingReader
    ) throws(Problem) -> (hidden: Set<ByteText>, readOnly: Set<ByteText>) {
        guard let json else { return ([], []) }
        let object = try SchemaReader(place: reader.place).members(json, ["hide", "readOnly"], reader.place)
        return (try names(object["hide"], reader.inside("hide")), try names(object["readOnly"], reader.inside("readOnly")))
    }

    /// Reads a list of names of properties.
    private func names(_ json: JSONValue?, _ reader: SettingReader) throws(Problem) -> Set<ByteText> {
        guard let json else { return [] }
        return Set(
            texts: try reader.list(json) { reader, one throws(Problem) in
                let text = try reader.text(one)
                guard !text.isEmpty else { throw reader.problem("expected the name of a property") }
                return text
            })
    }
}
