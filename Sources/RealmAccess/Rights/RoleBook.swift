// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage
internal import Synchronization

/// The roles of a server, and their rights.
///
/// Two roles are built in: `admin`, which may do everything, and `read`, which may read all of every realm and is the role of
/// anonymous clients on a server that was started with `--insecure`.
package final class RoleBook: Sendable {
    package static let administrator = "admin"
    /// The name of the role that reads everything.
    package static let reader = "read"
    /// The name of the role of requests without credentials. Unless the configuration has it, it allows nothing.
    package static let anonymous = "anonymous"

    /// The number of roles that a configuration may have.
    package static let countLimit = 1000

    /// The roles as they are stated, for comparison and for `config show`.
    package let entry: JSONObject
    /// The roles by name, which has only characters of ASCII.
    private let roles: [ByteText: Role]
    private let hasLimits: Bool
    /// The limits of a principal with all roles that state limits; nil when none does. For requests whose sender is not known
    /// yet.
    package let widestLimits: PrincipalLimits?
    /// Rights that were resolved.
    private let cache = RightsCache()
    /// The book that was put in force in the place of this one; nil while this one is in force.
    private let next = RankedMutex<RoleBook?>(.leaf, nil)
    private let isRetired = Atomic<Bool>(false)

    /// Makes the book of a server whose configuration has no roles.
    package convenience init() { self.init([], entry: JSONObject([])) }

    /// Makes a book.
    ///
    /// - Parameters:
    ///   - roles: The roles of the configuration. The built-in ones need not be among them.
    ///   - entry: The roles as they are stated.
    package init(_ roles: [Role], entry: JSONObject) {
        self.entry = entry
        let builtIn = [Role(RoleBook.administrator, administers: true), RoleBook.readingRole]
        self.roles = Dictionary(texts: (builtIn + roles).map { ($0.name, $0) }, uniquingKeysWith: { _, stated in stated })
        var widest = PrincipalLimits()
        for role in roles { widest.widen(by: role.limits) }
        hasLimits = !widest.isEmpty
        widestLimits = hasLimits ? widest : nil
    }

    /// The role that reads everything.
    private static var readingRole: Role {
        guard let all = NamePattern(classes: "*"), let everywhere = NamePattern(realms: "*") else { return Role(reader) }
        let grant = ClassGrant(all, [.read, .subscribe, .export])
        return Role(reader, [RealmGrant(everywhere, [grant], RealmGrant.Whole(export: true, showHiddenLinks: true))])
    }

    /// Whether the configuration states roles. Those that are built in name nothing that a schema could lack.
    package var isStated: Bool { entry.count > 0 }

    /// The names of all roles, sorted.
    package var names: [String] { roles.keys.sorted().texts }

    /// Returns whether there is a role of exactly this name.
    package func has(_ name: String) -> Bool { role(name) != nil }

    /// Returns a role; nil for none of exactly this name.
    private func role(_ name: String) -> Role? { roles[name] }

    // MARK: - In force

    /// The book that is in force in the place of this one; nil while this one is. It takes no lock until then.
    var successor: RoleBook? {
        guard isRetired.load(ordering: .acquiring) else { return nil }
        var newest = next.withLock { $0 }
        while let later = newest?.next.withLock({ $0 }) { newest = later }
        // The books between are no longer needed, and would be released one inside of the other.
        let found = newest
        let between = next.withLock { next -> RoleBook? in
            defer { next = found }
            return next
        }
        withExtendedLifetime(between) {}
        return found
    }

    /// Records that another book is in force in the place of this one. It must be a new one.
    package func retire(for book: RoleBook) {
        guard book !== self, !book.isRetired.load(ordering: .acquiring) else { return }
        next.withLock { $0 = book }
        isRetired.store(true, ordering: .releasing)
    }

    // MARK: - Limits

    /// Returns the limits of a principal that differ from those of the server: of several roles that state one, the most generous
    /// counts, and roles that do not state it say nothing about it.
    ///
    /// - Returns: The limits; nil when no role states any.
    package func limits(of names: [String]) -> PrincipalLimits? {
        guard hasLimits else { return nil }
        var limits = PrincipalLimits()
        for name in names { if let role = role(name) { limits.widen(by: role.limits) } }
        return limits.isEmpty ? nil : limits
    }

    // MARK: - Rights

    /// Returns the rights of a principal in a realm.
    ///
    /// It is cheap for a principal that was seen before: a key is put together, and looked up.
    ///
    /// - Parameters:
    ///   - holder: The roles and claims of the principal.
    ///   - realm: The name of the realm, which need not exist.
    package func rights(of holder: RightsHolder, in realm: String) -> RealmRights {
        let isRestricted = holder.realm != nil
        if let only = holder.realm, !only.utf8.elementsEqual(realm.utf8) { return .nothing }
        let held = held(holder)
        guard !held.isEmpty else { return .nothing }
        if held.contains(where: \.administers) { return isRestricted ? RoleBook.everything : RoleBook.all }
        let key = RoleBook.key(held, holder.claims, realm)
        if let known = cache.find(key) { return known }
        let rights = RealmRights(held.flatMap { $0.grants(in: realm, holder.claims) }, holder.claims)
        cache.keep(rights, key)
        return rights
    }

    /// Returns whether a principal has any right in a realm, so that it may know of it: whether `rights` returns more than nothing.
    ///
    /// Nothing is kept for later, so lists of realms can ask for many names.
    ///
    /// - Parameters:
    ///   - holder: The roles and claims of the principal.
    package func hasRights(_ holder: RightsHolder, in realm: String) -> Bool {
        if let only = holder.realm, !only.utf8.elementsEqual(realm.utf8) { return false }
        return held(holder).contains { role in
            role.administers || role.grants(in: realm, holder.claims).contains(where: \.givesAnything)
        }
    }

    /// Returns whether a principal may have rights in some realm, existing or not.
    package func mayHaveRights(_ holder: RightsHolder) -> Bool {
        held(holder).contains { $0.administers || $0.realms.contains(where: \.givesAnything) }
    }

    /// The rights of administrators.
    private static let all = RealmRights(everything: true)
    /// The rights of administrators of one realm.
    private static let everything = RealmRights(everything: false)

    /// Returns whether a principal may operate the server.
    package func administers(_ holder: RightsHolder) -> Bool {
        holder.realm == nil && held(holder).contains(where: \.administers)
    }

    /// Returns the roles of a principal that there are, each once, in the order of their names.
    private func held(_ holder: RightsHolder) -> [Role] {
        var held: [Role] = []
        for name in holder.roles {
            // There are as many roles at most as the configuration has.
            if let role = role(name), !held.contains(where: { $0 === role }) { held.append(role) }
        }
        return held.count < 2 ? held : held.sorted { $0.name < $1.name }
    }

    /// Returns the key of rights: all on which they depend, of bounded length.
    private static func key(_ held: [Role], _ claims: JSONObject, _ realm: String) -> [UInt8] {
        var form = RightsForm()
        form.add(realm)
        for role in held {
            form.add(role.name)
            for path in role.claims { form.add(claimForm(path.value(in: claims))) }
        }
        return form.bytes.count <= 1024 ? form.bytes : Array(form.digest.utf8)
    }

    /// Returns a claim as bytes that are equal exactly for claims that give the same rights.
    private static func claimForm(_ json: JSONValue?) -> RightsForm {
        var form = RightsForm()
        guard let json else { return form }
        if let list = json.array {
            form.add("list")
            // A longer list cannot be used in rules. Names of realms are searched up to there as well.
            form.add("\(min(list.count, ClaimValue.maximumElementCount + 1))")
            for element in list.prefix(ClaimValue.maximumElementCount) { form.add(claimForm(element)) }
        } else if let bound = ClaimValue.bound(json, isList: false) {
            form.add(bound.form)
        } else if let text = json.string {
            form.add("other " + text)
        } else {
            form.add("unusable")
        }
        return form
    }

    // MARK: - Defects

    /// Returns the grants of roles that do not fit the schema of a realm.
    ///
    /// A class that a role names has to exist where the role names the realm too, unless the realm has no class yet; elsewhere it
    /// is one that some of the realms have. A grant for a pattern of classes has to fit every class that has this name.
    ///
    /// - Parameters:
    ///   - snapshot: The whole version of the realm.
    package func defects(in snapshot: Snapshot, realm: String) -> [RoleDefect] {
        names.compactMap { roles[$0] }.flatMap { role in
            role.possibleGrants(in: realm).flatMap { grant in
                defects(of: grant, in: snapshot).map { found in
                    RoleDefect(
                        role: role.name, realm: realm, className: found.className, pointer: found.pointer, text: found.text)
                }
            }
        }
    }

    /// A defect before it is known whose it is.
    private typealias Found = (className: String, pointer: String, text: String)

    /// Returns the parts of a grant that do not fit.
    private func defects(of grant: RealmGrant, in snapshot: Snapshot) -> [Found] {
        var found: [Found] = []
        for one in grant.classes where grant.pattern.name != nil && !snapshot.classes.isEmpty {
            guard let name = one.pattern.name, snapshot.classTable(named: name) == nil else { continue }
            let hint = Suggestion.hint(for: name, in: snapshot.classes.compactMap(\.className))
            found.append((name, one.pointer, "there is no class '\(name)'\(hint)"))
        }
        for table in snapshot.classes {
            guard let name = table.className else { continue }
            let fitting = grant.classes.filter { $0.pattern.fits(class: name) }
            guard let one = Role.narrowest(fitting, \.pattern.narrowness).first else { continue }
            for misfit in GrantValidator(table: table, snapshot: snapshot).misfits(one) {
                found.append((name, one.pointer + misfit.part, misfit.text))
            }
        }
        return found
    }

    // MARK: - Metrics

    /// Appends the metrics: the numbers of resolved and of kept rights.
    package func write(to text: inout MetricsText) {
        let counts = cache.counts
        text.counter(
            "rights_lookups_total", "Look-ups of rights, by whether they were in the cache.", by: "result",
            [("hit", counts.hits), ("miss", counts.misses)])
        text.gauge("rights_kept", "Rights in the cache.", counts.entries)
    }
}

/// A part of a role that does not fit the schema of a realm. The role has no rights in the class because of it.
package struct RoleDefect: Sendable, Equatable, CustomStringConvertible {
    package let role: String
    package let realm: String
    /// The name of the class that the role loses.
    package let className: String
    /// The place in the configuration as a JSON Pointer.
    package let pointer: String
    /// The error, as a sentence without a final period.
    package let text: String

    /// The defect as one line for logs.
    package var description: String { "role '\(role)' loses class '\(className)' of realm '\(realm)': \(text)" }
}
