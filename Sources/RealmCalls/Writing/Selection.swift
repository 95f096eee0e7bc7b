// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The objects that a write of many objects is about, from the parameters `where`, `args` and
/// `maxAffected` of a request or the members of the same names of a batch operation.
package struct Selection: Sendable {
    /// The predicate of `where`, parsed but not bound to the class.
    package let query: Query
    /// The values for `$0`, `$1` and so on in the predicate, as JSON.
    package let args: [JSONValue]
    /// The number of matches above which the write fails with `too_many_affected`; nil for any number.
    package let maximum: Int?

    /// Reads the three values, wherever they are from.
    ///
    /// - Parameters:
    ///   - predicate: The text of `where`.
    ///   - args: The value of `args`; nil when it is absent.
    ///   - maximum: The value of `maxAffected`; nil when it is absent.
    ///   - limits: The bounds of the server.
    /// - Throws: `missing_where`, `invalid_query`, or `invalid_parameter` for `args`.
    package init(_ predicate: String?, args: JSONValue?, maximum: Int?, _ limits: Limits) throws(Problem) {
        guard let predicate else {
            throw Problem(.missingWhere, "'where' must select the objects; TRUEPREDICATE selects all")
                .with("parameter", "where")
        }
        self.args = try SelectionParameters.args(args, limits)
        self.maximum = maximum
        query = try SelectionParameters.query(predicate, limits)
    }

    /// Reads the parameters of a request.
    ///
    /// The arguments are decoded once against the newest version, so that malformed ones are
    /// refused at once. They are decoded again in the transaction, whose state may be newer.
    ///
    /// - Throws: `missing_where`, `invalid_query`, `invalid_parameter` or, for an argument that is
    ///   a link to an unknown class, `unknown_key_path`.
    package init(_ call: Call, _ options: WriteOptions) throws(Problem) {
        let parameters = options.parameters
        try self.init(
            try parameters.text("where"), args: try parameters.json("args", depthLimit: call.limits.jsonDepth),
            maximum: try parameters.int("maxAffected", in: 0...Int.max), call.limits)
        _ = try ArgumentDecoder(try call.database().current.shown(by: call.scope).snapshot).decode(args)
    }

    /// Returns the arguments, decoded against the uncommitted state of the transaction.
    package func arguments(_ context: WriteContext) throws(Problem) -> [QueryArgument] {
        args.isEmpty ? [] : try ArgumentDecoder(try context.view()).decode(args)
    }
}
