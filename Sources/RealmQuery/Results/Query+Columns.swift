// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension Query {
    /// Binds the query to a class, with an order by columns of it that a program chooses.
    ///
    /// - Parameters:
    ///   - table: The class whose objects are tested.
    ///   - snapshot: The version that is read.
    ///   - arguments: The values for `$0`, `$1` and so on.
    ///   - sort: Columns of single values, the most significant first.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Throws: `QueryError`, as `bind` does.
    package func bind(
        to table: Table, in snapshot: Snapshot, arguments: [QueryArgument], sort: [(column: Column, isAscending: Bool)],
        check: BoundQuery.Check?
    ) throws(QueryError) -> BoundQuery {
        guard !sort.isEmpty else { return try bind(to: table, in: snapshot, arguments: arguments, check: check) }
        let descriptor = DescriptorSyntax.sort(
            sort.map { term in
                .init(
                    path: PathSyntax(argument: nil, elements: [.key(term.column.name)], range: 0..<0),
                    isAscending: term.isAscending)
            })
        return try Query(text: text, predicate: predicate, descriptors: [descriptor])
            .bind(to: table, in: snapshot, arguments: arguments, check: check)
    }
}
