// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The checks that are common to all requests, made when the head of a request is complete and
/// before any of its body is read.
///
/// They concern the host and origin, the sizes of the head, the route, the credential, the rate of the client, the
/// access class, the realm and the method, in the order in which the specification ranks their
/// problems. Nothing here waits, because it runs on a thread of the daemon.
struct AdmissionControl: Sendable {
    /// Which hosts and origins are accepted, and what each client may do.
    private let rules: AccessRules
    /// The limits of the server, of which those on heads and rates are checked here.
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    /// The options in force, among which the roles are.
    private let liveOptions: LiveOptions
    /// Whether the whole server was started for reading only.
    private let isReadOnly: Bool
    /// Whether the server has pages.
    private let showsPages: Bool
    /// The realms by name, among which the one in the path is looked up.
    private let catalog: Catalog
    /// Closes realms whose files have changed, and opens failed ones again.
    private let caretaker: RealmCaretaker
    /// Tells who sends a request.
    private let authenticator: Authenticator
    /// The registrations, whose tickets stand for a credential in URLs.
    private let registrations: RegistrationTable
    /// This server as a node of a cluster; nil for a server by itself.
    private let cluster: ClusterService?
    /// The token buckets of the clients.
    private let rates = RateLimiter()
    /// The requests per second that a client may send unless a role of it says otherwise; 0 for any number.
    private let usualRate: Int

    /// Takes the rules, limits and realms of a server.
    ///
    /// - Parameter state: The state that the server was made with.
    init(_ state: ServerState) {
        rules = state.rules
        liveLimits = state.liveLimits
        liveOptions = state.liveOptions
        isReadOnly = state.options.isReadOnly
        showsPages = state.options.showsConsole
        catalog = state.catalog
        caretaker = state.caretaker
        authenticator = state.authenticator
        registrations = state.notifications.registrations
        usualRate = state.limits.rate
        cluster = state.cluster
    }

    /// Checks a request and looks up its route and its realm.
    ///
    /// On success `request.match`, `request.principal` and `request.realm` are set; on failure they are set as far as
    /// the checks came. A request with a token that is not known yet passes with `request.unverifiedToken`, and
    /// `verify` goes on with it later.
    ///
    /// - Parameter request: A request whose head is complete.
    /// - Returns: The route of the path.
    /// - Throws: The `Problem` of the first check that fails, which is the response to the request.
    func check(_ request: Request) throws(Problem) -> Route {
        let match = RouteTable.match(request.target)
        let wantsPage = showsPages && AdmissionControl.wantsPage(request, at: RouteTable.routes[match.index])
        try checkBeforeRouting(request, wantsPage: wantsPage)
        request.match = match
        request.match.defaultRealm = liveOptions.defaultRealm
        let route = RouteTable.route(of: request)
        request.isForItsClient = route.isForItsClient(request.method)
        // Whoever signs in has no credential yet, or one that has expired.
        if wantsPage { return route }
        // What monitors the server needs no credential, and is answered whatever it brings.
        let isProbe = route.traits.contains(.isUnmetered) && route.access(of: request.method) == .health
        if !isProbe { try authenticate(request, route) }
        try checkRate(request, route)
        guard request.unverifiedToken == nil else { return route }
        try checkAuthenticated(request, route)
        return route
    }

    /// Returns whether a request reads a page or a file of one, which is the same to everybody. At `/` there is an index for programs
    /// too, which is not.
    private static func wantsPage(_ request: Request, at route: Route) -> Bool {
        guard route.traits.contains(.showsPages), route.readMethods.contains(request.method ?? .delete) else { return false }
        return route.pattern.text != "/" || PageRequest.prefersPage(request)
    }

    /// Makes the checks of a request whose principal is known: its rights, the realm and the method.
    ///
    /// - Throws: The `Problem` of the first check that fails.
    private func checkAuthenticated(_ request: Request, _ route: Route) throws(Problem) {
        try checkRights(request, route)
        guard route.isServed else { throw AdmissionControl.nothing(request) }
        if route.pattern.isRealm { try checkMethodBeforeRealm(route, request) }
        request.realm = checked(try realmState(request, route), request)
        // Whoever looks at the state of a realm does not keep it open.
        if case .ready(let database)? = request.realm, !route.pattern.isRealm { database.noteUse(request.arrival) }
        try checkMethod(route, request)
    }

    // MARK: - Principal

    /// Finds out who sends a request.
    ///
    /// - Throws: The problems of `Authenticator.outcome`.
    private func authenticate(_ request: Request, _ route: Route) throws(Problem) {
        request.certificatePrincipal = certificatePrincipal(request)
        do throws(Problem) {
            switch try authenticator.outcome(request) {
            case .principal(let principal): request.principal = principal
            case .unverified(let token): request.unverifiedToken = token
            }
        } catch {
            request.isRefusedByRights = true
            throw error
        }
        if request.principal.kind == .anonymous, authenticator.hasCredentials, let principal = ticketHolder(request, route) {
            request.principal = principal
        }
        // How long the body of a request may be is known before its token is verified, so the most generous role counts.
        let roles = liveOptions.roles
        request.roleLimits =
            request.unverifiedToken == nil ? roles.limits(of: request.principal.roles) : roles.widestLimits
    }

    /// Returns who holds the client certificate of a connection; nil without one that the configuration knows.
    private func certificatePrincipal(_ request: Request) -> Principal? {
        guard let certificate = request.clientCertificate else { return nil }
        let now = Int64(WallClock.now().nanoseconds / 1_000_000_000)
        guard let rule = CertificateRule.first(of: liveOptions.certificateRules, for: certificate, now: now) else {
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
    private func ticketHolder(_ request: Request, _ route: Route) -> Principal? {
        guard request.method == .get, route.traits.contains(.takesTickets),
            let ticket = (try? QueryParameters(request.target))?["ticket"],
            let principal = registrations.principal(ofTicket: ticket), principal.logName != nil, !principal.isOver,
            principal.mayBeUsed(from: request.clientAddress)
        else { return nil }
        return principal
    }

    /// Checks whether the principal of a request may do what the route does, and notes on the request when it may not.
    private func checkRights(_ request: Request, _ route: Route) throws(Problem) {
        do throws(Problem) {
            try judge(request, route)
        } catch {
            // Also a realm or path that only seems to be missing.
            request.isRefusedByRights = route.isServed
            // Whether there is a realm of this name makes no difference to the answer.
            if error.code == .realmNotFound { throw noRealm(request) }
            throw error.code == .notFound && !route.isServed ? AdmissionControl.nothing(request) : error
        }
    }

    /// Checks whether the principal of a request may do what the route does. No other place asks for that.
    private func judge(_ request: Request, _ route: Route) throws(Problem) {
        // Nobody was asked for a credential there, and everybody may read it.
        if route.traits.contains(.isUnmetered), route.readMethods.contains(request.method ?? .delete) { return }
        let isOpen = route.traits.contains(.isOpenToAdminListener) && request.entrance.isForAdministrators
        if isOpen, request.headers.forwardedBy == nil, route.readMethods.contains(request.method ?? .delete) { return }
        if AccessPolicy.isJudgedByRoles(request.principal, hasCredentials: authenticator.hasCredentials) {
            return try RolePolicy(roles: liveOptions.roles, hasCredentials: authenticator.hasCredentials).check(
                request, route)
        }
        try rules.access.check(
            request, needed: route.access(of: request.method), isHidden: route.traits.contains(.isHidden),
            hasCredentials: authenticator.hasCredentials)
        try checkRealm(request, route)
    }

    /// Checks that a principal with a realm of its own uses no other one.
    ///
    /// - Throws: `realm_not_found` for another realm; `not_found` or `forbidden` for what concerns all realms.
    private func checkRealm(_ request: Request, _ route: Route) throws(Problem) {
        guard let realm = request.principal.realm else { return }
        if route.pattern.position(of: .realm) != nil {
            guard request.match.decoded(.realm) == realm else {
                throw .noRealm
            }
        } else if route.access(of: request.method) > .health, route.isServed {
            // The list has the one realm then.
            if route.traits.contains(.showsVisible), route.access(of: request.method) <= .read { return }
            guard !route.traits.contains(.isHidden) else { throw Problem(.notFound, "there is nothing at this path") }
            throw Problem(.forbidden, "this credential is for one realm")
        }
    }

    /// Verifies the token of a request that has passed `check` with one that was not known, and goes on with its checks.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - request: The request.
    ///   - then: Receives nil when the request is admitted, otherwise the problem that answers it; once, on any thread.
    func verify(_ token: String, of request: Request, then: @Sendable @escaping (Problem?) -> Void) {
        authenticator.verify(token, of: request) { [self] result in
            do throws(Problem) {
                if case .failure(let problem) = result, problem.status < 500 { request.isRefusedByRights = true }
                request.principal = try result.get()
                request.unverifiedToken = nil
                request.roleLimits = liveOptions.roles.limits(of: request.principal.roles)
                try checkAuthenticated(request, RouteTable.route(of: request))
                then(nil)
            } catch {
                then(error)
            }
        }
    }

    /// Makes the checks that need no route: host, origin, repeated header fields, sizes and method.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - wantsPage: Whether it is for a page, which tells nothing of what is served, so that links may lead there from anywhere.
    /// - Throws: `host_not_allowed`, `cross_origin`, `invalid_parameter`,
    ///   `headers_too_large`, `uri_too_long` or `not_implemented`.
    private func checkBeforeRouting(_ request: Request, wantsPage: Bool) throws(Problem) {
        // These two come first and do not depend on the path, so that no refused client learns what exists.
        try rules.hosts.check(request)
        if !wantsPage { try rules.origins.check(request) }
        if let repeated = request.headers.repeated {
            throw .invalidHeader(repeated.name.description, "the header field is given more than once")
        }
        guard request.headers.byteCount <= limits.headerBytes else {
            throw .overLimit(.headersTooLarge, "the header section is too large", limit: limits.headerBytes)
        }
        guard request.headers.fieldCount <= limits.headerFields else {
            throw .overLimit(.headersTooLarge, "the header section has too many fields", limit: limits.headerFields)
        }
        guard request.target.bytes.count <= limits.targetBytes else {
            let detail = "the request target is too long; send long queries with the QUERY method or POST to /query"
            throw .overLimit(.uriTooLong, detail, limit: limits.targetBytes)
        }
        guard request.method != nil else {
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
    private func checkRate(_ request: Request, _ route: Route) throws(Problem) {
        let rate = request.roleLimits?[.rate] ?? usualRate
        guard !request.entrance.isForAdministrators, !route.traits.contains(.isUnmetered),
            let seconds = rates.secondsToWait(request.account, rate: rate, request.arrival)
        else { return }
        var problem = Problem.overLimit(.rateLimited, "too many requests of this client", limit: rate)
        problem.retryAfterSeconds = max(1, Int(seconds.rounded(.up)))
        throw problem
    }

    /// Returns the state of the realm that the path names, if the request is to be answered here.
    ///
    /// - Parameters:
    ///   - request: The request, whose principal is known.
    ///   - route: Its route.
    /// - Returns: The state; nil for a path outside realms.
    /// - Throws: `realm_not_found` for an unknown name, or one that no realm can have; what `ClusterService.admit` throws.
    private func realmState(_ request: Request, _ route: Route) throws(Problem) -> Catalog.State? {
        guard request.match.pattern.position(of: .realm) != nil else { return nil }
        guard let name = request.match.decoded(.realm) else { throw noRealm(request) }
        let state = catalog[name]
        if let cluster, request.method != .options, !route.traits.contains(.concernsNode) {
            try cluster.admit(name, state, for: request, route.access(of: request.method))
        }
        if let state { return state }
        // The log may have a realm of which there is no file here yet.
        cluster?.adopt(name)
        guard let state = catalog[name] else { throw noRealm(request) }
        return state
    }

    /// Makes `not_found` for a path that no route has, which proposes one.
    private static func nothing(_ request: Request) -> Problem {
        Problem(.notFound, "there is nothing at this path\(PathAdvice.hint(for: request.target))")
    }

    /// Makes `realm_not_found`, which proposes a realm that the sender of the request may know of.
    private func noRealm(_ request: Request) -> Problem {
        let visibility = RealmVisibility(
            principal: request.principal, roles: liveOptions.roles,
            isJudged: AccessPolicy.isJudgedByRoles(request.principal, hasCredentials: authenticator.hasCredentials))
        // Listing very many realms takes longer than a hint is worth.
        guard catalog.count <= AdmissionControl.suggestedRealms else { return .noRealm(nil, in: []) }
        let names = catalog.page(after: nil, limit: AdmissionControl.suggestedRealms).realms.lazy.map(\.name)
        return .noRealm(request.match.sent(.realm), in: names.filter { visibility.shows($0) })
    }

    /// Among how many realms the one is looked for that was probably meant.
    private static let suggestedRealms = 1000

    /// Returns the current state of a realm, after a look at its file.
    ///
    /// The file of an open realm is examined at most every 20 milliseconds, whatever the number of
    /// requests. When another program has changed it, the realm fails here, and its closing is left
    /// to a worker.
    ///
    /// - Parameters:
    ///   - state: The state in the catalog; nil for a path outside realms.
    ///   - request: The request, with its time of arrival.
    /// - Returns: The state as it is for this request.
    private func checked(_ state: Catalog.State?, _ request: Request) -> Catalog.State? {
        switch state {
        case .ready(let database)?:
            guard let failure = database.health.lookIfDue(request.arrival) else {
                // The realm stays open, with its streams, until the followed file is back.
                return database.absence.map { .failed($0) } ?? state
            }
            caretaker.fail(database, failure)
            return .failed(failure)
        case .failed?, .opening?, .closed?, nil: return state
        }
    }

    /// Continues the checks of a request when the closed realm that it names was opened.
    ///
    /// - Parameters:
    ///   - state: The state of the realm; nil when it was detached meanwhile.
    ///   - request: The request, whose `realm` is set.
    /// - Throws: `realm_not_found`, or `read_only` for a write when the file is only read.
    func checkOpened(_ state: Catalog.State?, _ request: Request) throws(Problem) {
        guard let state else { throw .noRealm }
        request.realm = checked(state, request)
        try checkMethod(RouteTable.route(of: request), request)
    }

    /// Checks the method at the path of a realm itself, where methods that could make a realm are never
    /// available, whether a realm of this name is there or not.
    ///
    /// - Throws: `method_not_allowed`, never `read_only`.
    private func checkMethodBeforeRealm(_ route: Route, _ request: Request) throws(Problem) {
        guard let method = request.method, !route.readMethods.union(route.writeMethods).contains(method) else { return }
        try checkMethod(route, request)
    }

    /// Checks that the method is available at the path.
    ///
    /// Whether it is available depends on the route and the realm. The header field `Allow` of the
    /// problem lists only what this client may use.
    ///
    /// - Throws: `read_only` for a write to a realm or server that is only read, otherwise
    ///   `method_not_allowed`.
    private func checkMethod(_ route: Route, _ request: Request) throws(Problem) {
        guard let method = request.method, method != .options else { return }
        guard !allowed(route, request.realm).contains(method) else { return }
        let allowed = self.allowed(route, request.realm, for: request)
        let code: ProblemCode = route.writeMethods.contains(method) ? .readOnly : .methodNotAllowed
        let detail =
            code == .readOnly
            ? AdmissionControl.readOnlyDetail(request.realm)
            : "the method \(method.rawValue) is not available here; there are \(allowed.allow)"
        throw Problem(code, detail).with(header: HeaderField("Allow", text: allowed.allow))
    }

    /// Returns the detail of the problem `read_only`, with the reason why the realm is only read
    /// where there is one.
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
    ///   - request: The request that shows who the client is.
    /// - Returns: The methods for `Allow`.
    func allowed(_ route: Route, _ realm: Catalog.State?, for request: Request) -> MethodSet {
        let granted = rules.access.grant(request)
        let served = HTTPMethod.allCases.filter { route.access(of: $0) <= granted }
        return allowed(route, realm).intersection(MethodSet(served))
    }

    /// Returns the methods that a client with all rights may use at a path.
    ///
    /// Writes are included for a realm that is not open: such requests get the problem of opening,
    /// whatever the method. A realm that is only read can be detached or replaced all the same, so the
    /// paths of that keep their writes.
    private func allowed(_ route: Route, _ realm: Catalog.State?) -> MethodSet {
        let reads = route.readMethods.union(.options)
        // The key of a realm changes no file.
        guard !isReadOnly || route.traits.contains(.concernsNode) else { return reads }
        // A realm that cannot be opened reports that, whatever the method; a realm that is only read can be detached.
        if case .ready(let database)? = realm, !database.isWritable, !route.concernsFile { return reads }
        return reads.union(route.writeMethods)
    }
}
