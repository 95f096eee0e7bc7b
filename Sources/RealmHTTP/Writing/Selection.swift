// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// The objects that a PATCH or DELETE of many objects is about, from the parameters `where`, `args`
/// and `maxAffected`.
struct Selection: Sendable {
    /// The predicate of `where`, parsed but not bound to the class.
    let query: Query
    /// The values for `$0`, `$1` and so on in the predicate, as JSON.
    let args: [JSONValue]
    /// The number of matches above which the write fails with `too_many_affected`; nil for any
    /// number.
    let maximum: Int?

    /// Reads the parameters of a request.
    ///
    /// The arguments are decoded once against the newest version, so that malformed ones are
    /// refused at once. They are decoded again in the transaction, whose state may be newer.
    ///
    /// - Throws: `missing_where`, `invalid_query`, `invalid_parameter` or, for an argument that is
    ///   a link to an unknown class, `unknown_key_path`.
    init(_ call: WriteCall, _ options: WriteOptions) throws(Problem) {
        let parameters = options.parameters
        guard let text = try parameters.text("where") else {
            throw Problem(.missingWhere, "'where' has to select the objects; TRUEPREDICATE selects all").with(
                "parameter", "where")
        }
        args = try SelectionParameters.args(try parameters.json("args", depthLimit: call.limits.jsonDepth), call.limits)
        maximum = try parameters.int("maxAffected", in: 0...Int.max)
        query = try SelectionParameters.query(text, call.limits)
        _ = try ArgumentDecoder(try call.database().current.snapshot).decode(args)
    }

    /// Returns the arguments, decoded against the uncommitted state of the transaction.
    func arguments(_ context: WriteContext) throws(Problem) -> [QueryArgument] {
        args.isEmpty ? [] : try ArgumentDecoder(try context.view()).decode(args)
    }
}
