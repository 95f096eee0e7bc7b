// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// The objects that a write of many is about.
struct Selection: Sendable {
    let query: Query
    let args: [JSONValue]
    let maximum: Int?

    init(_ call: WriteCall, _ options: WriteOptions) throws(Problem) {
        let parameters = options.parameters
        guard let text = try parameters.text("where") else {
            throw Problem(.missingWhere, "say which objects are meant with 'where'; TRUEPREDICATE means all").with(
                "parameter", "where")
        }
        args = try SelectionParameters.args(try parameters.json("args", depthLimit: call.limits.jsonDepth), call.limits)
        maximum = try parameters.int("maxAffected", in: 0...Int.max)
        query = try SelectionParameters.query(text, call.limits)
        _ = try ArgumentDecoder(try call.database().current.snapshot).decode(args)
    }

    /// The arguments, read against the state that is being written.
    func arguments(_ context: WriteContext) throws(Problem) -> [QueryArgument] {
        args.isEmpty ? [] : try ArgumentDecoder(try context.view()).decode(args)
    }
}
