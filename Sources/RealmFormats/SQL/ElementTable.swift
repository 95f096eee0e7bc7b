// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The table with a row for each element of the collections of a property.
final class ElementTable: VirtualTable {
    private let column: Column
    private let made: RelationalSchema.Class
    private let position: Int
    private let tables: LiveTables

    /// Creates the table.
    ///
    /// - Parameters:
    ///   - tables: The tables of the version.
    init(_ column: Column, of made: RelationalSchema.Class, at position: Int, in tables: LiveTables) {
        self.column = column
        self.made = made
        self.position = position
        self.tables = tables
        super.init(named: tables.schema.tables[position].name, failures: tables.failures)
    }

    override var declaration: String { tables.declaration(position) }

    override func open() -> VirtualCursor { Cursor(self) }

    /// The numbers of the plans.
    private enum Way: Int { case all, owner, value }

    override func plan(_ request: VirtualRequest) throws -> VirtualPlan {
        try tables.budget.check()
        let usable = request.constraints.enumerated().filter { $1.isUsable && $1.comparison == .equal && !$1.isList }
        if let (use, _) = usable.first(where: { $1.column == 0 }) {
            return VirtualPlan(
                number: Way.owner.rawValue, uses: [use], text: "by key of the owner: owner == ?", cost: 10, rows: 4)
        }
        if let (use, _) = usable.first(where: { $1.column == 2 }), backlinks != nil {
            return VirtualPlan(number: Way.value.rawValue, uses: [use], text: "by links: value == ?", cost: 20, rows: 4)
        }
        // The number of elements is not known before they are read.
        let count = Double(tables.estimatedCount(of: made.table)) * 4
        return VirtualPlan(number: Way.all.rawValue, text: "all elements", cost: count + 10, rows: Int64(count))
    }

    /// The incoming links of the class that elements lead to; nil for elements that are no links.
    private var backlinks: (backlinks: Column, target: RelationalSchema.Class)? {
        guard let target = tables.target(of: column) else { return nil }
        let found = target.table.backlinks.first {
            $0.targetTable == made.table.key && $0.oppositeColumn?.leafIndex == column.leafIndex
        }
        return found.map { ($0, target) }
    }

    // MARK: - Rows

    private final class Cursor: VirtualCursor {
        private let table: ElementTable
        private let owners: ClassRows
        private let lookup: KeyLookup
        private var target: (lookup: KeyLookup, backlinks: Column)?
        /// The elements of the present owner that come next.
        private enum Rest {
            case none
            case elements(ElementCursor)
            case entries(EntryCursor)
        }
        private var rest = Rest.none
        private var position: Int64 = -1
        private var entry: DictionaryKey?
        private var value = Value.null

        init(_ table: ElementTable) {
            self.table = table
            owners = ClassRows(of: table.made, in: table.tables)
            lookup = KeyLookup(table.made, in: table.tables)
            super.init(table.failures)
        }

        override func begin(_ plan: Int, _ values: [SQLiteStatement.Found]) throws -> Bool {
            rest = .none
            switch Way(rawValue: plan) {
            case .owner?: try begin(with: try lookup.find(values[0])) { self.owners.begin(with: $0) }
            case .value?: try beginLinks(to: values[0])
            case .all?, nil: try owners.begin([])
            }
            return try next()
        }

        private func begin(with answer: KeyLookup.Answer, _ body: (Row) throws -> Void) throws {
            switch answer {
            case .row(let row): try body(row)
            case .none: owners.beginNone()
            case .unknown: try owners.begin([])
            }
        }

        /// Begins with the owners of collections that have a link to the object with a key.
        private func beginLinks(to key: SQLiteStatement.Found) throws {
            if target == nil, let found = table.backlinks {
                target = (KeyLookup(found.target, in: table.tables), found.backlinks)
            }
            guard let target else { return try owners.begin([]) }
            try begin(with: try target.lookup.find(key)) { row in
                // A list may have several links to one object.
                let keys = try row.leaf.backlinks(target.backlinks, row: row.index).keys()
                owners.begin(keys: Set(keys.map(\.rawValue)).sorted().map { ObjectKey($0) })
            }
        }

        override func next() throws -> Bool {
            while true {
                if try nextElement() { return true }
                guard try owners.next(), let owner = owners.row else { return false }
                position = -1
                if table.column.collection == .dictionary {
                    rest = .entries(try owner.dictionary(table.column, in: table.tables.snapshot).entries())
                } else {
                    rest = .elements(try owner.list(table.column, in: table.tables.snapshot).elements())
                }
            }
        }

        /// Advances within the collection of the present owner.
        private func nextElement() throws -> Bool {
            try table.tables.budget.spend()
            switch rest {
            case .none: return false
            case .elements(var elements):
                rest = .none
                guard let element = try elements.next() else { return false }
                value = element
                rest = .elements(elements)
            case .entries(var entries):
                rest = .none
                guard let found = try entries.next() else { return false }
                (entry, value) = (found.key, found.value)
                rest = .entries(entries)
            }
            position += 1
            return true
        }

        override func write(_ column: Int, to result: SQLiteResult) throws {
            guard let owner = owners.row else { return result.null() }
            switch column {
            case 0: result.write(try table.tables.cells.key(of: owner, table.made))
            case 1: if let entry { result.text(RelationalCells.name(of: entry)) } else { result.int(position) }
            default: result.write(try table.tables.cells.cell(value, table.column))
            }
        }
    }
}
