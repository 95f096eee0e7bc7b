// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The rights of a principal in the classes of the realms, as `/v1/me` lists them.
///
/// No realm is opened for it: the schema of a closed one is read from its file. One that cannot be read counts as left out, and
/// those that the principal may not know of are not in it. It ends at a number of realms and of classes: a client that needs more
/// requests the schema of a realm.
struct RightsSummary {
    /// The greatest number of realms.
    static let realmLimit = 100
    /// The greatest number of classes of all realms together.
    static let classLimit = 1000

    /// The permitted actions, by the names of the realm and the class.
    let may: JSONObject
    /// Whether something was left out: because of the limits, or as a realm cannot be read.
    let hasMore: Bool

    /// Collects the rights of a principal.
    ///
    /// - Parameters:
    ///   - visibility: The principal with its roles.
    ///   - budget: The work that may be done.
    /// - Throws: The problem of a stopped budget.
    init(_ visibility: RealmVisibility, _ catalog: Catalog, _ budget: WorkBudget) throws(Problem) {
        var realms: [(name: String, value: JSONValue)] = []
        var (classCount, hasMore) = (0, false)
        let names = visibility.principal.realm.map { [$0] } ?? RightsSummary.names(in: catalog)
        for name in names where visibility.shows(name) {
            guard realms.count < RightsSummary.realmLimit, classCount < RightsSummary.classLimit else {
                hasMore = true
                break
            }
            guard let snapshot = RightsSummary.snapshot(of: name, in: catalog) else {
                hasMore = hasMore || catalog[name] != nil
                continue
            }
            try Problem.stored(budget.spend(1 + snapshot.classes.count))
            guard let classes = visibility.rights(in: name)?.may(in: snapshot)?.members else { continue }
            let shown = classes.prefix(RightsSummary.classLimit - classCount)
            hasMore = hasMore || shown.count < classes.count
            classCount += shown.count
            realms.append((name, .object(JSONObject(Array(shown)))))
        }
        let known = Set(names.map { Array($0.utf8) })
        var last: String?
        // Realms in which the principal has no right do not count as left out.
        while !hasMore {
            let page = catalog.page(after: last, limit: RightsSummary.realmLimit)
            try Problem.stored(budget.spend(1 + page.realms.count))
            hasMore = page.realms.contains { !known.contains(Array($0.name.utf8)) && visibility.shows($0.name) }
            guard page.hasMore, let end = page.realms.last?.name else { break }
            last = end
        }
        may = JSONObject(realms)
        self.hasMore = hasMore
    }

    /// The names of the open realms, and after them those of the others, of the first thousand.
    private static func names(in catalog: Catalog) -> [String] {
        let open = catalog.openNames.sorted()
        let closed = catalog.page(after: nil, limit: 1000).realms.filter { $0.state.isClosed }.map(\.name)
        return open + closed
    }

    /// The newest version of a realm; nil when its file cannot be read, or a log may have a newer one.
    private static func snapshot(of name: String, in catalog: Catalog) -> Snapshot? {
        switch catalog[name] {
        case .ready(let database)?: database.current.snapshot
        case .closed(let realm)? where !catalog.isReplicated(name): (try? realm.readFacts())?.version?.snapshot
        case .closed?, .failed?, .opening?, nil: nil
        }
    }
}
