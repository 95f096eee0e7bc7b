// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The demands of a write in addition to its changes: parameters of the URL and header fields, each checked on its own.
///
/// An endpoint makes it first of all, so that a request can be refused without its body where possible.
package struct WriteOptions: Sendable {
    /// All parameters of the URL, which the endpoint reads its own ones from.
    package let parameters: ParameterSet
    /// The preferences of the client, from `Prefer`.
    package let preferences: Preferences
    /// The conditions under which the write may happen, from `If-Match` and `If-None-Match`.
    package var condition: WriteCondition
    /// The form of objects in the response, from `format`, `Accept`, `ints` and `meta`.
    package let representation: Representation
    /// Whether all changes are made and then rolled back (`dryRun=true`).
    package private(set) var isDryRun: Bool
    /// The id of the interactive transaction that the request belongs to; nil for none.
    package let transaction: String?
    /// The subscriptions that are not notified of the write, from `Realm-Without-Notifying`; nil for none.
    package let commitMark: CommitMark?
    /// The media type of the body, one of those that the operation accepts; nil for an empty body without one.
    package let bodyType: BodyType?
    /// Which preferences have an effect on this kind of write, for `Preference-Applied`.
    package var honours = Honours()

    /// The preferences that a kind of write honours.
    package struct Honours: Sendable {
        /// Whether `return` changes the response.
        var returns = false
        /// Whether `handling` changes how unknown members are treated.
        var handling = false

        package init(returns: Bool = false, handling: Bool = false) {
            self.returns = returns
            self.handling = handling
        }
    }

    /// Reads the parameters and header fields of a request.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - honours: Which preferences have an effect.
    /// - Throws: `not_acceptable`, `unsupported_media_type`, `conflicting_parameters`,
    ///   `unknown_parameter` or `invalid_parameter`.
    package init(_ call: Call, honours: Honours = Honours()) throws(Problem) {
        let url = Result { () throws(Problem) in try QueryParameters(call.request.target) }
        let format = try ResponseFormat.negotiate(call.request, parameter: (try? url.get())?["format"], among: .documents)
        bodyType = try call.bodyTypes.type(of: call.request)
        guard (try? url.get())?["snapshot"] == nil else {
            throw .conflict("a snapshot cannot be written to", parameter: "snapshot")
        }
        commitMark = try WriteOptions.commitMark(call)
        let set = try ParameterSet(try url.get(), urlNames: call.queryNames)
        parameters = set
        isDryRun = try set.flag("dryRun")
        var representation = Representation()
        if case .ejson(let isRelaxed) = format { representation.format = .ejson(isRelaxed: isRelaxed) }
        representation.includesMeta = try set.choice("meta", ["full", "none"]) == "full"
        representation.intsAsStrings = try set.choice("ints", ["number", "string"]) == "string"
        self.representation = representation
        condition = try WriteCondition(call.request)
        preferences = Preferences(call.request)
        transaction = call.request[.realmTransaction]
        self.honours = honours
    }

    /// Reads which subscriptions are not notified of the write.
    ///
    /// - Throws: `conflicting_parameters` inside an interactive transaction, where the request that
    ///   commits has the header field.
    private static func commitMark(_ call: Call) throws(Problem) -> CommitMark? {
        guard case .ready(let database)? = call.realm,
            let mark = try call.services.commitMark(call, database).get()
        else { return nil }
        guard call.request[.realmTransaction] == nil else {
            throw Problem(.conflictingParameters, "inside a transaction, the header field belongs on the commit request")
                .with("header", "Realm-Without-Notifying")
        }
        return mark
    }

    /// Returns how the engine treats the inputs of this write, from `nested` and from `Prefer: handling`.
    package func input() throws(Problem) -> WriteSession.Options {
        WriteSession.Options(
            writesNestedObjects: try parameters.choice("nested", ["refuse", "upsert"]) == "upsert",
            ignoresUnknownMembers: preferences.isLenient)
    }

    /// Returns whether the response contains the representation of objects.
    ///
    /// - Parameter byDefault: The behavior of this kind of request when the client has no preference.
    package func showsObjects(byDefault: Bool) -> Bool {
        preferences.returns.map { $0 == .representation } ?? byDefault
    }

    /// The value of `Preference-Applied` for this write; nil when no preference took effect.
    package var preferenceApplied: String? {
        preferences.applied(
            returns: honours.returns, handling: honours.handling,
            isAsynchronous: preferences.isAsynchronous && answersEarly && !isDryRun)
    }

    /// Whether `respond-async` has an effect. It has none for requests that are always answered when they are done.
    private var answersEarly = true

    /// The same options for a dry run.
    package var asDryRun: WriteOptions {
        var options = self
        options.isDryRun = true
        return options
    }

    /// The same options for a request whose response is sent only when it is done, even if the client prefers otherwise.
    package var synchronous: WriteOptions {
        var options = self
        options.answersEarly = false
        return options
    }
}
