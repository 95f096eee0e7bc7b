// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension Query {
    /// Binds the query to a class. Throws `.invalid` when it does not fit the schema or the arguments.
    ///
    /// `order` is applied after the descriptors of the text. `check` is asked whether to go on: shapes and arguments that
    /// are named often take a while.
    package func bind(
        to table: Table, in snapshot: Snapshot, arguments: [QueryArgument] = [],
        mapping: KeyPathMapping = KeyPathMapping(), order: ResultOrder = .none, check: BoundQuery.Check? = nil
    ) throws(QueryError) -> BoundQuery {
        let pool = ConstantPool()
        var binder = Binder(self, table: table, snapshot: snapshot, arguments: arguments, mapping: mapping, pool: pool)
        let condition = try binder.cancellation.watching(check) { () throws(QueryError) in try binder.condition(predicate) }
        let steps = try binder.steps(descriptors, order)
        return BoundQuery(
            table: table, snapshot: snapshot, condition: condition, steps: steps, mapping: mapping, pool: pool,
            cancellation: binder.cancellation, dependencies: binder.paths.recorder.dependencies)
    }
}
