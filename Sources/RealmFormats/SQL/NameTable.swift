// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The table that states for each column which property of which class it has; see `NameMap`.
final class NameTable: VirtualTable {
    private let schema: RelationalSchema

    init(_ schema: RelationalSchema, _ failures: VirtualFailures) {
        self.schema = schema
        super.init(named: NameMap.table, failures: failures)
    }

    override var declaration: String {
        let columns = NameMap.columns.map { SQLiteDatabase.quoted($0) + " TEXT" }
        return "CREATE TABLE x (\(columns.joined(separator: ", ")), PRIMARY KEY (\"table\", \"column\")) WITHOUT ROWID"
    }

    override func plan(_ request: VirtualRequest) -> VirtualPlan {
        let count = schema.tables.reduce(0) { $0 + $1.columns.count }
        return VirtualPlan(text: "all columns", cost: Double(count), rows: Int64(count))
    }

    override func open() -> VirtualCursor { Cursor(schema, failures) }

    private final class Cursor: VirtualCursor {
        private let schema: RelationalSchema
        private var (table, column) = (0, 0)

        init(_ schema: RelationalSchema, _ failures: VirtualFailures) {
            self.schema = schema
            super.init(failures)
        }

        override func begin(_ plan: Int, _ values: [SQLiteStatement.Found]) -> Bool {
            (table, column) = (0, -1)
            return next()
        }

        override func next() -> Bool {
            column += 1
            while table < schema.tables.count, column >= schema.tables[table].columns.count {
                table += 1
                column = 0
            }
            return table < schema.tables.count
        }

        override func write(_ column: Int, to result: SQLiteResult) {
            let (table, own) = (schema.tables[table], schema.tables[table].columns[self.column])
            let texts = [table.name, own.name, table.className, own.property, own.role.rawValue]
            if column < texts.count, let text = texts[column] { result.text(text) } else { result.null() }
        }
    }
}
