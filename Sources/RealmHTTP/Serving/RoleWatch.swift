// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Reports roles that lose a class, because the schema of a realm lacks a name in a rule.
///
/// Rights never include grants that do not fit (`RealmRights.fitting`); this only reports them. It checks each open realm when it
/// is new, or has had commits, and compares its schema with the last one: so every loss is reported once for each schema and for
/// each reading of the roles.
package final class RoleWatch: Sendable {
    /// The result of checking a realm.
    private struct Finding {
        /// The version at the last check.
        var token: VersionToken
        let schema: SchemaFingerprint
        /// The number of classes that roles lose in it.
        let lossCount: Int
    }

    /// The state of all realms.
    private struct State {
        /// The roles at the last check; nil before the first one.
        var roles: RoleBook?
        /// The findings by the name of the realm. Those of closed realms stay, so that losses are not reported again when they
        /// open.
        var findings: [ByteText: Finding] = [:]
        /// The number of reported losses.
        var reported = 0

        /// Records that a realm has another version with the schema of the last check.
        mutating func note(_ token: VersionToken, of name: String) { findings[name]?.token = token }
    }

    /// The realms.
    private let catalog: Catalog
    /// The options, among which the roles are.
    private let options: LiveOptions
    /// The log; nil for none.
    private let log: AccessLog?
    private let state = RankedMutex(.leaf, State())
    /// Whether a thread is checking at the moment.
    private let isLooking = Atomic<Bool>(false)
    /// The number of realms of which findings are kept while they are closed.
    private static let keptLimit = 1024
    /// The number of defects of one realm that are logged one by one.
    private static let loggedLimit = 20

    /// Takes the parts of a server, and adds the metrics.
    package init(_ server: ServerState) {
        catalog = server.catalog
        options = server.liveOptions
        log = server.accessLog
        server.metrics.add { [weak self] text in self?.write(to: &text) }
    }

    /// Whether there is anything to check.
    var isNeeded: Bool { options.roles.isStated || state.withLock { $0.roles?.isStated ?? false } }

    /// Checks the realms whose version has changed since the last check.
    ///
    /// It is for workers: comparing the rules of many roles with large schemas takes a while. While one thread checks, others
    /// return at once.
    package func check() {
        guard !isLooking.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer { isLooking.store(false, ordering: .releasing) }
        let roles = options.roles
        let previous = state.withLock { state -> RoleBook? in
            guard state.roles !== roles else { return nil }
            defer { state.roles = roles }
            state.findings = [:]
            return state.roles
        }
        withExtendedLifetime(previous) {}
        guard roles.isStated else { return }
        let names = catalog.openNames
        for name in names { check(name, roles) }
        forget(except: names)
    }

    /// Checks one realm.
    private func check(_ name: String, _ roles: RoleBook) {
        guard let version = catalog.database(name)?.current else { return }
        let known = state.withLock { $0.findings[name] }
        guard known?.token != version.token else { return }
        if let known, known.schema.describes(version.snapshot) {
            return state.withLock { $0.note(version.token, of: name) }
        }
        let defects = roles.defects(in: version.snapshot, realm: name)
        let lossCount = Set<ByteText>(texts: defects.map { $0.role + "\0" + $0.className }).count
        let finding = Finding(token: version.token, schema: SchemaFingerprint(version.snapshot), lossCount: lossCount)
        state.withLock { state in
            state.findings[name] = finding
            state.reported += lossCount
        }
        for defect in defects.prefix(RoleWatch.loggedLimit) {
            log?.note("role_lost_class", realm: name, "\(defect)", level: .error)
        }
        guard defects.count > RoleWatch.loggedLimit else { return }
        let more = defects.count - RoleWatch.loggedLimit
        log?.note("role_lost_class", realm: name, "and \(more) more parts of roles do not fit its schema", level: .error)
    }

    /// Forgets realms that are gone, and closed ones when there are too many.
    private func forget(except open: [String]) {
        let names = state.withLock { state in
            state.findings.count > open.count ? Set(state.findings.keys).subtracting(Set(texts: open)).texts : []
        }
        guard !names.isEmpty else { return }
        let isFull = names.count > RoleWatch.keptLimit
        let gone = names.filter { isFull || catalog[$0] == nil }
        state.withLock { state in for name in gone { state.findings[name] = nil } }
    }

    /// Appends the metrics.
    private func write(to text: inout MetricsText) {
        let (current, reported) = state.withLock { ($0.findings.values.reduce(0) { $0 + $1.lossCount }, $0.reported) }
        text.gauge("role_losses", "Classes that roles have lost because their rules do not fit the schema.", current)
        text.counter("role_losses_total", "Classes that roles have lost so far, counted once for each schema.", reported)
    }
}
