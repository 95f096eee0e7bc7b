// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
package import RealmCalls
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The realms as clients with restricted rights see them.
extension RealmDirectory {
    /// Returns which realms the sender of a request may know of.
    ///
    /// - Parameter call: A request that was admitted.
    func visibility(for call: Call) -> RealmVisibility {
        RealmVisibility(principal: call.caller.principal, roles: options.roles, isJudged: call.caller.roleScope != nil)
    }

    /// Returns whether the sender of a request gets facts that only operators need: sizes, versions in use, waiting writes, and
    /// whether a realm is empty, which reveals objects that the sender may not see.
    func showsAll(to call: Call) -> Bool { call.caller.principal.kind == .local || access.grant(call.caller) == .administer }

    /// The number of realms that are taken from the catalog at once.
    private static let step = 1000

    /// Returns the realms that the sender of a request may know of, in the order of their names. The others leave no trace: neither
    /// gaps nor shorter pages, nor a next page without realms.
    ///
    /// - Parameters:
    ///   - name: The name after which they begin; nil for the first.
    ///   - limit: The limit of the result.
    ///   - call: The request.
    /// - Returns: The realms, and whether there are more.
    /// - Throws: The problem of a stopped budget.
    package func page(
        after name: String?, limit: Int, for call: Call
    ) throws(Problem) -> (realms: [(name: String, state: Catalog.State)], hasMore: Bool) {
        let visibility = visibility(for: call)
        guard !visibility.showsAll else { return listed(after: name, limit: limit) }
        if let only = call.caller.principal.realm {
            guard visibility.shows(only), name.map({ $0 < only }) ?? true, let state = catalog[only] else { return ([], false) }
            return limit > 0 ? ([(only, state)], false) : ([], true)
        }
        var visible: [(name: String, state: Catalog.State)] = []
        var last = name
        while visible.count <= limit {
            let page = listed(after: last, limit: RealmDirectory.step)
            try Problem.stored(call.request.budget.spend(page.realms.count))
            visible += page.realms.filter { visibility.shows($0.name) }
            guard page.hasMore, let end = page.realms.last?.name else { break }
            last = end
        }
        return (Array(visible.prefix(limit)), visible.count > limit)
    }

    /// Returns realms in the order of their names, including those of a cluster without a file here. Waits for the log of the
    /// cluster; without it the list has the realms of this node.
    private func listed(after name: String?, limit: Int) -> (realms: [(name: String, state: Catalog.State)], hasMore: Bool) {
        catalog.page(after: name, limit: limit, logged: cluster?.names(after: name, limit: limit + 1) ?? [])
    }
}
