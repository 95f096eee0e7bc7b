// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// What a write asks for beside its changes: from the URL and the header, checked by itself.
struct WriteOptions: Sendable {
    let parameters: ParameterSet
    let preferences: Preferences
    let condition: WriteCondition
    let representation: Representation
    /// Does everything, then undoes it.
    let isDryRun: Bool
    /// The interactive transaction that the request belongs to.
    let transaction: String?
    /// Subscriptions that shall not hear of it.
    let skipped: SkipMark?
    /// The media type of the body, one of those that were asked for; nil for an empty body without one.
    let bodyType: String?
    /// Which preferences have an effect on this kind of write.
    var honours = Honours()

    struct Honours: Sendable {
        var returns = false
        var handling = false
    }

    /// The parameters that objects in answers have.
    static let shape = ["format", "ints", "meta"]
    static let json = ["application/json", "application/ejson"]

    /// `types` are the media types that a body may have; `names` the parameters beside `dryRun` and those of the answer.
    init(_ call: WriteCall, types: [String], names: [String] = [], honours: Honours = Honours()) throws(Problem) {
        let request = call.request
        let url = Result { () throws(Problem) in try QueryParameters(request.target) }
        let format = try ResponseFormat.negotiate(request, parameter: (try? url.get())?["format"], among: .documents)
        bodyType = try WriteOptions.bodyType(request, types)
        guard (try? url.get())?["snapshot"] == nil else {
            throw .conflict("a snapshot cannot be written to", parameter: "snapshot")
        }
        skipped = try WriteOptions.skipped(call)
        let set = try ParameterSet(try url.get(), urlNames: names + ["dryRun"] + WriteOptions.shape)
        parameters = set
        isDryRun = try set.flag("dryRun")
        var representation = Representation()
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
        representation.includesMeta = try set.choice("meta", ["full", "none"]) == "full"
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        self.representation = representation
        condition = try WriteCondition(request)
        preferences = Preferences(request)
        transaction = request.headers[.realmTransaction]
        self.honours = honours
        guard !preferences.isAsynchronous || transaction == nil else {
            throw Problem(.conflictingParameters, "a write inside a transaction cannot be answered before it is done")
                .with("header", "Prefer")
        }
    }

    /// Who is not to be told of a write; inside a transaction its commit says that.
    private static func skipped(_ call: WriteCall) throws(Problem) -> SkipMark? {
        guard case .ready(let database)? = call.request.realm,
            let mark = try SkipMark(call.request, database, call.services.registrations)
        else { return nil }
        guard call.request.headers[.realmTransaction] == nil else {
            throw Problem(.conflictingParameters, "inside a transaction it is the commit that says who is not told of it")
                .with("header", "Realm-Without-Notifying")
        }
        return mark
    }

    /// The media type of the body; `unsupported_media_type` for one that is not in `types`.
    private static func bodyType(_ request: Request, _ types: [String]) throws(Problem) -> String? {
        guard let text = request.headers[.contentType] else {
            guard request.hasNoBody || types.isEmpty else { throw unsupported("the body has no Content-Type", types, request) }
            return nil
        }
        guard !types.isEmpty else {
            guard request.hasNoBody else { throw unsupported("this request takes no body", types, request) }
            return nil
        }
        // As most clients write it.
        if let plain = types.first(where: { $0 == text }) { return plain }
        guard let type = MediaType(text), types.contains(type.essence) else {
            throw unsupported("the media type of the body is not taken here", types, request)
        }
        if type.subtype != "octet-stream", let charset = type.parameters["charset"], charset.lowercased() != "utf-8" {
            throw unsupported("the only character set of JSON is UTF-8", types, request)
        }
        return type.essence
    }

    private static func unsupported(_ detail: String, _ types: [String], _ request: Request) -> Problem {
        let problem = Problem(.unsupportedMediaType, detail)
        return request.method != .patch
            ? problem : problem.with(header: HeaderField("Accept-Patch", text: types.joined(separator: ", ")))
    }

    /// How the engine takes inputs. `nested=upsert` is the only value.
    func input() throws(Problem) -> WriteSession.Options {
        WriteSession.Options(
            writesNestedObjects: try parameters.choice("nested", ["refuse", "upsert"]) == "upsert",
            ignoresUnknownMembers: preferences.isLenient)
    }

    /// Whether the answer shows the objects; `byDefault` when the client has no wish.
    func showsObjects(byDefault: Bool) -> Bool {
        preferences.returns.map { $0 == .representation } ?? byDefault
    }

    var preferenceApplied: String? {
        preferences.applied(
            returns: honours.returns, handling: honours.handling,
            isAsynchronous: preferences.isAsynchronous && answersEarly && transaction == nil && !isDryRun)
    }

    /// Whether `respond-async` has an effect.
    private var answersEarly = true

    /// The same for a request that is answered when it is done, whatever it prefers.
    var synchronous: WriteOptions {
        var options = self
        options.answersEarly = false
        return options
    }
}
