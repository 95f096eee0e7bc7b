// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Goes through objects of a class that its reader sees. One thread at a time uses it.
final class ClassRows {
    private enum Source {
        case none
        case one(Row)
        case search(MatchCursor)
        case keys(ArraySlice<ObjectKey>)
    }

    private let tables: LiveTables
    private let table: Table
    private let owners: EmbeddedOwners?
    private let finder: ObjectFinder
    private var source = Source.none
    /// A leaf of objects, with the rows that come next.
    private var open: (leaf: ClusterLeaf, rows: Mask)?
    /// The present object; nil before the first one and after the last one.
    private(set) var row: Row?

    init(of made: RelationalSchema.Class, in tables: LiveTables) {
        self.tables = tables
        table = made.table
        owners = table.kind == .embedded ? EmbeddedOwners(of: table, in: tables) : nil
        finder = ObjectFinder(table)
    }

    // MARK: - Begin

    func beginNone() { begin(.none) }
    func begin(with row: Row) { begin(.one(row)) }

    /// Begins with objects by their keys. Those that the reader does not see are left out.
    func begin(keys: [ObjectKey]) { begin(.keys(keys[...])) }

    /// Begins with the objects that fulfil all terms.
    ///
    /// - Parameters:
    ///   - order: A column that decides the order; nil for that of the object keys.
    ///   - limit: The number of objects that are needed in that order.
    /// - Throws: `QueryError`.
    func begin(_ terms: [ColumnTerm], order: (column: Column, isAscending: Bool)? = nil, limit: Int? = nil) throws {
        let (query, arguments) = Query.requiring(terms)
        let budget = tables.budget
        let bound = try query.bind(
            to: table, in: tables.snapshot, arguments: arguments, sort: order.map { [$0] } ?? [], check: { budget.continues })
        bound.sortedValueLimit = tables.sortedValues
        if let cursor = try bound.cursor() { return begin(.search(cursor)) }
        begin(.keys(try bound.execute(ResultWindow(limit: limit), check: { budget.continues })[...]))
    }

    private func begin(_ source: Source) {
        self.source = source
        open = nil
        row = nil
    }

    // MARK: - Rows

    /// Advances to the next object.
    ///
    /// - Returns: Whether there is one.
    /// - Throws: An error of storage or of the search.
    func next() throws -> Bool {
        while let found = try candidate() {
            try tables.budget.spend()
            guard try owners?.shows(found) ?? true else { continue }
            row = found
            return true
        }
        row = nil
        return false
    }

    /// Returns the next object, embedded ones without regard to their owners; nil at the end.
    private func candidate() throws -> Row? {
        if let (leaf, rows) = open, let index = rows.first {
            open?.rows[index] = false
            return Row(leaf: leaf, index: index)
        }
        switch source {
        case .none: return nil
        case .one(let row):
            source = .none
            return row
        case .search(let cursor):
            let budget = tables.budget
            open = try cursor.next(check: { budget.continues })
            return open == nil ? nil : try candidate()
        case .keys(var keys):
            while let key = keys.popFirst() {
                source = .keys(keys)
                if let row = try finder.find(key) { return row }
            }
            return nil
        }
    }
}
