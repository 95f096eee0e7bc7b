// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The tables of one version, as its reader sees it: those of an export to SQLite, whose rows are found while they are read.
///
/// `@unchecked Sendable`: one thread at a time uses it, with the database that has the tables.
package final class LiveTables: @unchecked Sendable {
    /// The version that is read.
    let snapshot: Snapshot
    /// The limit of work and time.
    let budget: WorkBudget
    let schema: RelationalSchema
    /// Makes the values of the rows.
    let cells: RelationalCells
    /// The number of values that one search may keep in order to sort.
    let sortedValues: Int
    /// Keeps the first error of a table.
    let failures = VirtualFailures()

    /// Prepares the tables. No object is read.
    ///
    /// - Parameters:
    ///   - snapshot: The version, as its reader sees it.
    ///   - budget: The limit of work and time.
    ///   - sortedValues: The number of values that one search may keep in order to sort.
    package init(of snapshot: Snapshot, budget: WorkBudget, sortedValues: Int = .max) {
        self.snapshot = snapshot
        self.budget = budget
        self.sortedValues = sortedValues
        schema = RelationalSchema(snapshot.classes.filter { $0.kind != .embedded }, in: snapshot, isWhole: true)
        cells = RelationalCells(schema, snapshot, budget)
    }

    /// Makes the virtual tables, which keep this alive.
    func makeTables() -> [VirtualTable] {
        var tables: [VirtualTable] = [NameTable(schema, failures)]
        for made in schema.classes.values {
            tables.append(ClassTable(made, in: self))
            for member in made.members {
                guard case .collection(let position) = member.place else { continue }
                tables.append(ElementTable(member.column, of: made, at: position, in: self))
            }
        }
        return tables
    }

    /// Returns the class of the objects that links of a column lead to; nil where there is none.
    func target(of column: Column) -> RelationalSchema.Class? {
        column.type == .link ? column.targetTable.flatMap { schema.classes[$0] } : nil
    }

    /// Returns a number of objects for plans, which do not depend on how many are hidden.
    func estimatedCount(of table: Table) -> Int { table.rule == nil ? max(table.count, 1) : 1000 }

    /// Returns the statement that would make a table.
    ///
    /// - Parameter position: The position of the table in the schema.
    func declaration(_ position: Int) -> String {
        let table = schema.tables[position]
        var parts = table.columns.map { SQLiteDatabase.quoted($0.name) + " " + SQLiteSink.type(of: $0.kind) }
        parts.append("PRIMARY KEY (\(table.key.map { SQLiteDatabase.quoted(table.columns[$0].name) }.joined(separator: ", ")))")
        // Only a key that is one integer can be the number of the row, as it is in an export.
        let hasRowID = table.key.count == 1 && table.columns[table.key[0]].kind == .int
        return "CREATE TABLE x (\(parts.joined(separator: ", ")))" + (hasRowID ? "" : " WITHOUT ROWID")
    }
}

extension SQLiteResult {
    /// Returns the value that an export stores for a cell.
    func write(_ cell: RelationalCell) {
        switch cell {
        case .number(let number): int(number)
        case .text(let text): self.text(text)
        case .json(let bytes): ByteView.withBytes(of: bytes) { self.bytes($0, asText: true) }
        case .value(let value): write(value)
        }
    }

    /// Returns the value that an export stores for a value that is no link.
    @inline(__always)
    func write(_ value: Value) {
        switch value {
        case .null, .list, .dictionary, .link: null()
        case .int(let number): int(number)
        case .bool(let flag): int(flag ? 1 : 0)
        case .float(let number): double(Double(number))
        case .double(let number): double(number)
        case .string(let text): bytes(text, asText: text.validatedString != nil)
        case .binary(let data): bytes(data, asText: false)
        case .timestamp(let date): text(date.text)
        case .decimal(let number): text(number.description)
        case .objectID(let id): text(id.description)
        case .uuid(let id): text(id.description)
        }
    }
}
