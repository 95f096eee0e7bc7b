// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The checks that are common to all requests, made when the head of a request is complete and before any of its body is read.
///
/// They concern the host and origin, the sizes of the head, the route, the credential, the rate of the client, the
/// access class, the realm and the method, in the order in which the specification ranks their
/// problems. Nothing here waits, because it runs on a thread of the daemon.
struct AdmissionControl: Sendable {
    /// The parts that the requests of the server share.
    private let server: ServerState
    /// Whether the whole server was started for reading only.
    private let isReadOnly: Bool
    /// Whether the server has pages.
    private let showsPages: Bool
    /// The token buckets of the clients.
    private let rates = RateLimiter()
    /// The requests per second that a client may send unless a role of it says otherwise; 0 for any number.
    private let usualRate: Int

    /// Takes the rules, limits and realms of a server.
    ///
    /// - Parameter server: The parts that requests share.
    init(_ server: ServerState) {
        self.server = server
        isReadOnly = server.options.isReadOnly
        showsPages = server.options.showsConsole
        usualRate = server.limits.rate
    }

    /// Checks a request and looks up its route and its realm.
    ///
    /// On success `call.match`, `call.caller.principal` and `call.realm` are set; on failure they are set as far as the checks
    /// came. A request with an unknown token passes with `call.caller.unverifiedToken`, and `verify` continues with it later.
    ///
    /// - Parameter call: A request whose head is complete.
    /// - Returns: The route of the path.
    /// - Throws: The `Problem` of the first check that fails, which is the response to the request.
    func check(_ call: Call) throws(Problem) -> Route {
        let match = RouteTable.match(call.request.target)
        let wantsPage = showsPages && AdmissionControl.wantsPage(call, at: RouteTable.routes[match.index])
        try checkBeforeRouting(call, wantsPage: wantsPage)
        call.match = match
        call.match.defaultRealm = server.liveOptions.defaultRealm
        let route = RouteTable.route(of: call)
        call.isForItsClient = route.isForItsClient(call.request.method)
        call.readMethods = route.readMethods
        call.methods = route.readMethods.union(route.writeMethods)
        call.bodyTypes = route.bodyTypes(of: call.request.method)
        call.queryNames = route.queryNames(of: call.request.method)
        // A client that signs in has no credential yet, or one that has expired.
        if wantsPage { return route }
        // Probes need no credential, and get a response to every request.
        let isProbe = route.traits.contains(.isUnmetered) && route.access(of: call.request.method) == .health
        if !isProbe { try authenticate(call, route) }
        try checkRate(call, route)
        guard call.caller.unverifiedToken == nil else { return route }
        try checkAuthenticated(call, route)
        return route
    }

    /// Returns whether a request reads a page or a file of one, which is the same for all clients. At `/` there is an index for
    /// programs too, which is not.
    private static func wantsPage(_ call: Call, at route: Route) -> Bool {
        guard route.traits.contains(.showsPages), route.readMethods.contains(call.request.method ?? .delete) else { return false }
        return route.pattern.text != "/" || PageRequest.prefersPage(call.request)
    }

    /// Makes the checks of a request whose principal is known: its rights, the realm and the method.
    ///
    /// - Throws: The `Problem` of the first check that fails.
    private func checkAuthenticated(_ call: Call, _ route: Route) throws(Problem) {
        try checkRights(call, route)
        guard route.isServed else { throw AdmissionControl.nothing(call) }
        if route.pattern.isRealm { try checkMethodBeforeRealm(route, call) }
        call.realm = checked(try realmState(call, route), call)
        // A client that reads the state of a realm does not keep it open.
        if case .ready(let database)? = call.realm, !route.pattern.isRealm { database.noteUse(call.request.arrival) }
        try checkMethod(route, call)
    }

    // MARK: - Principal

    /// Authenticates the sender of a request.
    ///
    /// - Throws: The problems of `Authenticator.outcome`.
    private func authenticate(_ call: Call, _ route: Route) throws(Problem) {
        call.caller.certificatePrincipal = certificatePrincipal(call)
        do throws(Problem) {
            switch try server.authenticator.outcome(call.request, &call.caller) {
            case .principal(let principal): call.caller.principal = principal
            case .unverified(let token): call.caller.unverifiedToken = token
            }
        } catch {
            call.caller.isRefusedByRights = true
            throw error
        }
        if call.caller.principal.kind == .anonymous, server.authenticator.hasCredentials,
            let principal = ticketHolder(call, route)
        {
            call.caller.principal = principal
        }
        // The limit of the body of a request is needed before its token is verified, so the most generous role counts.
        let roles = server.liveOptions.roles
        call.caller.roleLimits =
            call.caller.unverifiedToken == nil ? roles.limits(of: call.caller.principal.roles) : roles.widestLimits
    }

    /// Returns the holder of the client certificate of a connection; nil without one that the configuration knows.
    private func certificatePrincipal(_ call: Call) -> Principal? {
        guard let certificate = call.request.clientCertificate else { return nil }
        let now = Int64(WallClock.now().nanoseconds / 1_000_000_000)
        guard let rule = CertificateRule.first(of: server.liveOptions.certificateRules, for: certificate, now: now) else {
            return nil
        }
        return Principal(
            kind: .certificate, id: certificate.subject, name: rule.name, roles: rule.roles,
            claims: JSONObject([(name: "sub", value: .string(rule.name))]),
            expiresAt: WallClock(
                nanoseconds: certificate.expiry.multipliedReportingOverflow(by: 1_000_000_000).overflow
                    ? .max : certificate.expiry * 1_000_000_000))
    }

    /// Returns the principal whose ticket is in the URL of a stream, where browsers cannot send a credential; nil without one.
    ///
    /// Registrations that were made without a credential do not count once there are some.
    private func ticketHolder(_ call: Call, _ route: Route) -> Principal? {
        guard call.request.method == .get, route.traits.contains(.takesTickets),
            let ticket = (try? QueryParameters(call.request.target))?["ticket"],
            let principal = server.notifications.registrations.principal(ofTicket: ticket), principal.logName != nil,
            !principal.isOver, principal.mayBeUsed(from: call.request.clientAddress)
        else { return nil }
        return principal
    }

    /// Checks whether the principal of a request has the rights for the route, and records a refusal in the request.
    private func checkRights(_ call: Call, _ route: Route) throws(Problem) {
        do throws(Problem) {
            try judge(call, route)
        } catch {
            // Also a realm or path that only seems to be missing.
            call.caller.isRefusedByRights = route.isServed
            // Whether there is a realm of this name makes no difference to the response.
            if error.code == .realmNotFound { throw noRealm(call) }
            throw error.code == .notFound && !route.isServed ? AdmissionControl.nothing(call) : error
        }
    }

    /// Checks whether the principal of a request has the rights for the route. No other place checks that.
    private func judge(_ call: Call, _ route: Route) throws(Problem) {
        // Probe routes are public: they need no credential.
        if route.traits.contains(.isUnmetered), route.readMethods.contains(call.request.method ?? .delete) { return }
        let isOpen = route.traits.contains(.isOpenToAdminListener) && call.request.listenerKind.isForAdministrators
        if isOpen, call.request.headers.forwardedBy == nil, route.readMethods.contains(call.request.method ?? .delete) { return }
        if AccessPolicy.isJudgedByRoles(call.caller.principal, hasCredentials: server.authenticator.hasCredentials) {
            return try RolePolicy(roles: server.liveOptions.roles, hasCredentials: server.authenticator.hasCredentials).check(
                call, route)
        }
        try server.rules.access.check(
            call.request, of: call.caller, needed: route.access(of: call.request.method),
            isHidden: route.traits.contains(.isHidden),
            hasCredentials: server.authenticator.hasCredentials)
        try checkRealm(call, route)
    }

    /// Checks that a principal that is bound to a realm uses no other one.
    ///
    /// - Throws: `realm_not_found` for another realm; `not_found` or `forbidden` for paths that concern all realms.
    private func checkRealm(_ call: Call, _ route: Route) throws(Problem) {
        guard let realm = call.caller.principal.realm else { return }
        if route.pattern.position(of: .realm) != nil {
            guard call.match.decoded(.realm) == realm else {
                throw .noRealm
            }
        } else if route.access(of: call.request.method) > .health, route.isServed {
            // The list has the one realm then.
            if route.traits.contains(.showsVisible), route.access(of: call.request.method) <= .read { return }
            guard !route.traits.contains(.isHidden) else { throw Problem(.notFound, "there is nothing at this path") }
            throw Problem(.forbidden, "this credential is for one realm")
        }
    }

    /// Verifies the token of a request that has passed `check` with one that was not known, and continues with its checks.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - then: Receives nil when the request is admitted, otherwise the problem for the response; once, on any thread.
    func verify(_ token: String, of call: Call, then: @Sendable @escaping (Problem?) -> Void) {
        server.authenticator.verify(token, of: call.request) { [self] result in
            do throws(Problem) {
                if case .failure(let problem) = result, problem.status < 500 { call.caller.isRefusedByRights = true }
                call.caller.principal = try result.get()
                call.caller.unverifiedToken = nil
                call.caller.roleLimits = server.liveOptions.roles.limits(of: call.caller.principal.roles)
                try checkAuthenticated(call, RouteTable.route(of: call))
                then(nil)
            } catch {
                then(error)
            }
        }
    }

    /// Makes the checks that need no route: host, origin, repeated header fields, sizes and method.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - wantsPage: Whether it is for a page, which reveals nothing about the served realms, so that links may lead there from
    ///     anywhere.
    /// - Throws: `host_not_allowed`, `cross_origin`, `invalid_parameter`,
    ///   `headers_too_large`, `uri_too_long` or `not_implemented`.
    private func checkBeforeRouting(_ call: Call, wantsPage: Bool) throws(Problem) {
        // These two come first and do not depend on the path, so that they reveal nothing to a refused client.
        try server.rules.hosts.check(call.request)
        if !wantsPage { try server.rules.origins.check(call.request) }
        if let repeated = call.request.headers.repeated {
            throw .invalidHeader(repeated.name.description, "the header field is given more than once")
        }
        guard call.request.headers.byteCount <= server.limits.http.headerBytes else {
            throw .overLimit(.headersTooLarge, "the header section is too large", limit: server.limits.http.headerBytes)
        }
        guard call.request.headers.fieldCount <= server.limits.http.headerFields else {
            throw .overLimit(.headersTooLarge, "the header section has too many fields", limit: server.limits.http.headerFields)
        }
        guard call.request.target.bytes.count <= server.limits.http.targetBytes else {
            let detail = "the request target is too long; send long queries with the QUERY method or POST to /query"
            throw .overLimit(.uriTooLong, detail, limit: server.limits.http.targetBytes)
        }
        guard call.request.method != nil else {
            throw Problem(.notImplemented, "this server does not know the method of this request")
        }
    }

    /// Takes a token from the bucket of the client.
    ///
    /// Requests on the listener for administrators, and paths that monitor the server's health, are
    /// exempt: they must be answered when other requests of the same address are rejected.
    ///
    /// - Throws: `rate_limited`, with the seconds after which the next request is admitted, at
    ///   least 1.
    private func checkRate(_ call: Call, _ route: Route) throws(Problem) {
        let rate = call.caller.roleLimits?[.rate] ?? usualRate
        guard !call.request.listenerKind.isForAdministrators, !route.traits.contains(.isUnmetered),
            let seconds = rates.secondsToWait(call.account, rate: rate, call.request.arrival)
        else { return }
        var problem = Problem.overLimit(.rateLimited, "too many requests of this client", limit: rate)
        problem.retryAfterSeconds = max(1, Int(seconds.rounded(.up)))
        throw problem
    }

    /// Returns the state of the realm that the path names, if this node is responsible for the request.
    ///
    /// - Parameters:
    ///   - call: The request, whose principal is known.
    /// - Returns: The state; nil for a path outside realms.
    /// - Throws: `realm_not_found` for an unknown name, or one that no realm can have; the errors of `ClusterService.admit`.
    private func realmState(_ call: Call, _ route: Route) throws(Problem) -> Catalog.State? {
        guard call.match.pattern.position(of: .realm) != nil else { return nil }
        guard let name = call.match.decoded(.realm) else { throw noRealm(call) }
        let state = server.catalog[name]
        if let cluster = server.cluster, call.request.method != .options, !route.traits.contains(.concernsNode) {
            try cluster.admit(name, state, for: call, route.access(of: call.request.method))
        }
        if let state { return state }
        // The log may have a realm of which there is no file here yet.
        server.cluster?.adopt(name)
        guard let state = server.catalog[name] else { throw noRealm(call) }
        return state
    }

    /// Makes `not_found` for a path that no route has, which proposes one.
    private static func nothing(_ call: Call) -> Problem {
        Problem(.notFound, "there is nothing at this path\(PathAdvice.hint(for: call.request.target))")
    }

    /// Makes `realm_not_found`, which proposes a realm that the sender of the request may know of.
    private func noRealm(_ call: Call) -> Problem {
        let visibility = RealmVisibility(
            principal: call.caller.principal, roles: server.liveOptions.roles,
            isJudged: AccessPolicy.isJudgedByRoles(call.caller.principal, hasCredentials: server.authenticator.hasCredentials))
        // Listing very many realms takes longer than a hint is worth.
        guard server.catalog.count <= AdmissionControl.suggestedRealms else { return .noRealm(nil, in: []) }
        let names = server.catalog.page(after: nil, limit: AdmissionControl.suggestedRealms).realms.lazy.map(\.name)
        return .noRealm(call.match.sent(.realm), in: names.filter { visibility.shows($0) })
    }

    /// The number of realms among which a similar name is searched.
    private static let suggestedRealms = 1000

    /// Returns the current state of a realm, after a check of its file.
    ///
    /// The file of an open realm is examined at most every 20 milliseconds, for any number of requests. When another program has
    /// changed it, the realm fails here, and its closing is left to a worker.
    ///
    /// - Parameters:
    ///   - state: The state in the catalog; nil for a path outside realms.
    ///   - call: The request, with its time of arrival.
    /// - Returns: The state as it is for this request.
    private func checked(_ state: Catalog.State?, _ call: Call) -> Catalog.State? {
        switch state {
        case .ready(let database)?:
            guard let failure = database.health.checkFileIfDue(call.request.arrival) else {
                // The realm stays open, with its streams, until the followed file is back.
                return database.absence.map { .failed($0) } ?? state
            }
            server.supervisor.fail(database, failure)
            return .failed(failure)
        case .failed?, .opening?, .closed?, nil: return state
        }
    }

    /// Continues the checks of a request when the closed realm that it names was opened.
    ///
    /// - Parameters:
    ///   - state: The state of the realm; nil when it was detached in the meantime.
    ///   - call: The request, whose `realm` is set.
    /// - Throws: `realm_not_found`, or `read_only` for a write when the file is only read.
    func checkOpened(_ state: Catalog.State?, _ call: Call) throws(Problem) {
        guard let state else { throw .noRealm }
        call.realm = checked(state, call)
        try checkMethod(RouteTable.route(of: call), call)
    }

    /// Checks the method at the path of a realm itself, where methods that could make a realm are never
    /// available, whether a realm of this name is there or not.
    ///
    /// - Throws: `method_not_allowed`, never `read_only`.
    private func checkMethodBeforeRealm(_ route: Route, _ call: Call) throws(Problem) {
        guard let method = call.request.method, !route.readMethods.union(route.writeMethods).contains(method) else { return }
        try checkMethod(route, call)
    }

    /// Checks that the method is available at the path.
    ///
    /// Whether it is available depends on the route and the realm. The header field `Allow` of the problem lists only methods
    /// that this client may use.
    ///
    /// - Throws: `read_only` for a write to a realm or server that is only read, otherwise
    ///   `method_not_allowed`.
    private func checkMethod(_ route: Route, _ call: Call) throws(Problem) {
        guard let method = call.request.method, method != .options else { return }
        guard !allowed(route, call.realm).contains(method) else { return }
        let allowed = self.allowed(route, call.realm, for: call)
        let code: ProblemCode = route.writeMethods.contains(method) ? .readOnly : .methodNotAllowed
        let detail =
            code == .readOnly
            ? AdmissionControl.readOnlyDetail(call.realm)
            : "the method \(method.rawValue) is not available here; there are \(allowed.allow)"
        throw Problem(code, detail).with(header: HeaderField("Allow", text: allowed.allow))
    }

    /// Returns the detail of the problem `read_only`, with the reason why the realm is only read where there is one.
    private static func readOnlyDetail(_ realm: Catalog.State?) -> String {
        let detail = "this realm is served for reading only"
        guard case .ready(let database)? = realm, let reason = database.readOnlyReason else { return detail }
        return "\(detail): \(reason)"
    }

    /// Returns the methods that this client may use at a path, `OPTIONS` included.
    ///
    /// - Parameters:
    ///   - route: The route of the path.
    ///   - realm: The state of the realm that the path names; nil for paths outside realms.
    ///   - call: The request that shows who the client is.
    /// - Returns: The methods for `Allow`.
    func allowed(_ route: Route, _ realm: Catalog.State?, for call: Call) -> MethodSet {
        let granted = server.rules.access.grant(call.caller)
        let served = HTTPMethod.allCases.filter { route.access(of: $0) <= granted }
        return allowed(route, realm).intersection(MethodSet(served))
    }

    /// Returns the methods that a client with all rights may use at a path.
    ///
    /// Writes are included for a realm that is not open: such requests get the problem of opening, with any method. A realm that
    /// is only read can be detached or replaced all the same, so the paths of that keep their writes.
    private func allowed(_ route: Route, _ realm: Catalog.State?) -> MethodSet {
        let reads = route.readMethods.union(.options)
        // The key of a realm changes no file.
        guard !isReadOnly || route.traits.contains(.concernsNode) else { return reads }
        // A realm that cannot be opened reports that for any method; a realm that is only read can be detached.
        if case .ready(let database)? = realm, !database.isWritable, !route.concernsFile { return reads }
        return reads.union(route.writeMethods)
    }
}
