// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// What is common to all requests and checked before a body is read: host, origin, sizes of the head, rate, route, who may
/// use it, realm and method.
struct AdmissionControl: Sendable {
    private let rules: AccessRules
    private let limits: Limits
    private let isReadOnly: Bool
    private let catalog: Catalog
    private let caretaker: RealmCaretaker
    private let rates: RateLimiter?

    /// The checks of a server.
    init(_ state: ServerState) {
        rules = state.rules
        limits = state.limits
        isReadOnly = state.options.isReadOnly
        catalog = state.catalog
        caretaker = state.caretaker
        rates = RateLimiter(rate: state.limits.rate)
    }

    /// Throws the problem of a request that is not let in; else the request knows its route and its realm, which is returned.
    func check(_ request: Request) throws(Problem) -> Route {
        try checkBeforeRouting(request)
        request.match = RouteTable.match(request.target)
        let route = RouteTable.route(of: request)
        try checkRate(request, route)
        try rules.access.check(
            request, needed: route.access(of: request.method), isHidden: route.traits.contains(.isHidden))
        guard route.isServed else { throw Problem(.notFound, "there is nothing at this path") }
        request.realm = checked(try realmState(request.match), request)
        try checkMethod(route, request)
        return route
    }

    private func checkBeforeRouting(_ request: Request) throws(Problem) {
        // First of all, and without a look at what the request is about: nobody shall learn from this what there is.
        try rules.hosts.check(request)
        try rules.origins.check(request)
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

    /// Every client has a rate of its own; who watches over the server's health or administers it is not held up by it.
    private func checkRate(_ request: Request, _ route: Route) throws(Problem) {
        guard let rates, request.entrance == .main, !route.traits.contains(.isUnmetered),
            let seconds = rates.secondsToWait(request.client, request.arrival)
        else { return }
        var problem = Problem.overLimit(.rateLimited, "too many requests from this address", limit: rates.rate)
        problem.retryAfterSeconds = max(1, Int(seconds.rounded(.up)))
        throw problem
    }

    /// The state of the realm that the path names; nil for paths outside realms.
    private func realmState(_ match: PathMatch) throws(Problem) -> Catalog.State? {
        guard match.pattern.position(of: .realm) != nil else { return nil }
        guard let name = match.decoded(.realm), let state = catalog[name] else {
            throw Problem(.realmNotFound, "there is no realm of this name")
        }
        return state
    }

    /// The state of a realm for a request that comes now: one that failed is opened again soon, and one whose file is no
    /// longer what it was has failed.
    private func checked(_ state: Catalog.State?, _ request: Request) -> Catalog.State? {
        switch state {
        case .ready(let database)?:
            guard let failure = database.health.lookIfDue(request.arrival) else { return state }
            caretaker.fail(database, failure)
            return .failed(failure)
        case .failed?:
            if let name = request.match.decoded(.realm) { caretaker.noteWish(name, request.arrival) }
            return state
        case .opening?, nil: return state
        }
    }

    private func checkMethod(_ route: Route, _ request: Request) throws(Problem) {
        guard let method = request.method, method != .options else { return }
        guard !allowed(route, request.realm).contains(method) else { return }
        let allowed = self.allowed(route, request.realm, for: request)
        let code: ProblemCode = route.writeMethods.contains(method) ? .readOnly : .methodNotAllowed
        let detail =
            code == .readOnly
            ? AdmissionControl.readOnlyDetail(request.realm) : "the method \(method.rawValue) is not available here"
        throw Problem(code, detail).with(header: HeaderField("Allow", text: allowed.allow))
    }

    /// What a refused write to a realm is told that is only read.
    private static func readOnlyDetail(_ realm: Catalog.State?) -> String {
        let detail = "this realm is served for reading only"
        guard case .ready(let database)? = realm, let reason = database.readOnlyReason else { return detail }
        return "\(detail): \(reason)"
    }

    /// What this client may do at a path, `OPTIONS` included.
    func allowed(_ route: Route, _ realm: Catalog.State?, for request: Request) -> MethodSet {
        let granted = rules.access.grant(request)
        let served = HTTPMethod.allCases.filter { route.access(of: $0) <= granted }
        return allowed(route, realm).intersection(MethodSet(served))
    }

    /// What may be done at a path by those who may do everything.
    private func allowed(_ route: Route, _ realm: Catalog.State?) -> MethodSet {
        let reads = route.readMethods.union(.options)
        guard !isReadOnly else { return reads }
        // What cannot be opened is told so, whatever the method; a realm that is only read can be let go of.
        if case .ready(let database)? = realm, !database.isWritable, !route.pattern.isRealm { return reads }
        return reads.union(route.writeMethods)
    }
}
