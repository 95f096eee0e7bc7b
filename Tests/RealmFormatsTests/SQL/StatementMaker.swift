// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Makes statements of SQL over the tables of a version: joins, groups, windows, subqueries, orders, and comparisons with values
/// that the tables have, or nearly have.
struct StatementMaker {
    private let schema: RelationalSchema
    /// Some values of each column, as literals, by `table.column`.
    private let samples: [String: [String]]
    private var random: SeededGenerator

    init(_ snapshot: Snapshot, _ exported: ExportedDatabase, seed: UInt64) throws {
        schema = LiveTables(of: snapshot, budget: WorkBudget()).schema
        random = SeededGenerator(seed: seed)
        var samples: [String: [String]] = [:]
        for table in schema.tables {
            for column in table.columns {
                let (name, of) = (SQLiteDatabase.quoted(column.name), SQLiteDatabase.quoted(table.name))
                let literals = try exported.rows(
                    "SELECT quote(\(name)) FROM \(of) WHERE length(\(name)) < 200 ORDER BY 1 LIMIT 40")
                samples[table.name + "." + column.name] = literals.map { String($0.dropFirst()) }
            }
        }
        self.samples = samples
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
    private mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &random) < part }

    private func name(_ alias: String, _ column: RelationalTable.Column) -> String {
        "\(alias).\(SQLiteDatabase.quoted(column.name))"
    }

    /// A literal for a column: a value of it, or one near or beyond.
    private mutating func literal(_ table: RelationalTable, _ column: RelationalTable.Column) -> String {
        if chance(0.75), let own = samples[table.name + "." + column.name], !own.isEmpty {
            let value = pick(own)
            // The beginning of a text, or of a date.
            if value.hasPrefix("'"), value.count > 6, chance(0.3) {
                return String(value.prefix(Int.random(in: 2...min(value.count - 1, 18), using: &random))) + "'"
            }
            return value
        }
        return pick([
            "0", "1", "-1", "3.5", "''", "'a'", "'2024-01'", "NULL", "x'00'", "'0'", "9223372036854775807", "'NaN'", "1e300",
        ])
    }

    /// A condition on the columns of a table.
    private mutating func condition(_ alias: String, _ table: RelationalTable) -> String {
        let column = pick(table.columns)
        let name = name(alias, column)
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1: return "\(name) = \(literal(table, column))"
        case 2: return "\(name) \(pick(["<", "<=", ">", ">=", "<>"])) \(literal(table, column))"
        case 3: return "\(name) BETWEEN \(literal(table, column)) AND \(literal(table, column))"
        case 4: return "\(name) IN (\(literal(table, column)), \(literal(table, column)), \(literal(table, column)))"
        case 5:
            let text = literal(table, column).filter { $0 != "'" }.prefix(4)
            return "\(name) LIKE '\(text)%'"
        case 6: return "\(name) IS \(pick(["NULL", "NOT NULL", literal(table, column)]))"
        case 7: return "NOT (\(condition(alias, table)))"
        case 8: return "(\(condition(alias, table)) OR \(condition(alias, table)))"
        case 9: return "\(name) = \(literal(table, column)) COLLATE NOCASE"
        default: return "(\(condition(alias, table)) AND \(condition(alias, table)))"
        }
    }

    /// A value for each row.
    private mutating func expression(_ alias: String, _ table: RelationalTable) -> String {
        let name = name(alias, pick(table.columns))
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return "length(\(name))"
        case 1: return "typeof(\(name))"
        case 2: return "coalesce(\(name), 'none')"
        case 3: return "CASE WHEN \(condition(alias, table)) THEN 1 ELSE 0 END"
        case 4: return "substr(\(name), 1, 4)"
        case 5: return "upper(trim(replace(\(name), 'a', 'b'), '-'))"
        case 6: return "instr(\(name), 'e')"
        default: return name
        }
    }

    /// Two tables that a key joins, with the condition; nil where there are none.
    private mutating func join() -> (RelationalTable, RelationalTable, String)? {
        var pairs: [(Int, Int, Int)] = []
        for (index, table) in schema.tables.enumerated() {
            for (position, column) in table.columns.enumerated() {
                if let target = column.target { pairs.append((index, position, target)) }
            }
        }
        guard !pairs.isEmpty else { return nil }
        let (from, position, to) = pick(pairs)
        let (left, right) = (schema.tables[from], schema.tables[to])
        return (left, right, "\(name("a", left.columns[position])) = \(name("b", right.columns[0]))")
    }

    /// Returns a statement, and whether it states the order of its rows.
    mutating func statement() -> (sql: String, isOrdered: Bool) {
        let table = pick(schema.tables)
        let from = "\(SQLiteDatabase.quoted(table.name)) a"
        let filter = chance(0.7) ? " WHERE " + condition("a", table) : ""
        let key = table.key.map { name("a", table.columns[$0]) }.joined(separator: ", ")
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return ("SELECT * FROM \(from)\(filter)", false)
        case 1:
            let column = name("a", pick(table.columns))
            let direction = pick(["", " DESC", " DESC", " COLLATE NOCASE"])
            let limit =
                chance(0.6)
                ? " LIMIT \(Int.random(in: 0...9, using: &random)) OFFSET \(Int.random(in: 0...3, using: &random))" : ""
            return ("SELECT \(key), \(column) FROM \(from)\(filter) ORDER BY \(column)\(direction), \(key)\(limit)", true)
        case 2:
            let column = pick(table.columns)
            return (
                "SELECT \(name("a", column)), typeof(\(name("a", column))) FROM \(from) ORDER BY \(name("a", column))\(pick(["", " DESC"])) LIMIT \(Int.random(in: 0...9, using: &random)) OFFSET \(Int.random(in: 0...2, using: &random))",
                true
            )
        case 3:
            let group = expression("a", table)
            return (
                "SELECT \(group), count(*), count(DISTINCT \(name("a", pick(table.columns)))), max(\(name("a", pick(table.columns)))), min(\(name("a", pick(table.columns)))) FROM \(from)\(filter) GROUP BY 1 HAVING count(*) > \(Int.random(in: 0...1, using: &random))",
                false
            )
        case 4:
            guard let (left, right, on) = join() else { return ("SELECT count(*) FROM \(from)\(filter)", false) }
            let kind = pick(["JOIN", "LEFT JOIN"])
            let rest = chance(0.6) ? " WHERE " + condition(pick(["a"]), left) : ""
            return (
                "SELECT \(expression("a", left)), \(expression("b", right)), b.* FROM \(SQLiteDatabase.quoted(left.name)) a \(kind) \(SQLiteDatabase.quoted(right.name)) b ON \(on)\(rest)",
                false
            )
        case 5:
            return (
                "SELECT \(key), row_number() OVER (PARTITION BY typeof(\(name("a", pick(table.columns)))) ORDER BY \(key)), sum(length(\(name("a", pick(table.columns))))) OVER (ORDER BY \(key)) FROM \(from)\(filter)",
                false
            )
        case 6:
            guard let (left, right, on) = join() else { return ("SELECT DISTINCT \(expression("a", table)) FROM \(from)", false) }
            return (
                "SELECT * FROM \(SQLiteDatabase.quoted(right.name)) b WHERE \(pick(["", "NOT "]))EXISTS (SELECT 1 FROM \(SQLiteDatabase.quoted(left.name)) a WHERE \(on) AND \(condition("a", left)))",
                false
            )
        case 7:
            return (
                "WITH t AS (SELECT \(key), \(expression("a", table)) AS v FROM \(from)\(filter)) SELECT count(*), min(v), max(v), group_concat(typeof(v)) FROM (SELECT * FROM t ORDER BY 1, 2, v)",
                false
            )
        default:
            return (
                "SELECT \(expression("a", table)) FROM \(from)\(filter) UNION SELECT \(expression("a", table)) FROM \(from) WHERE \(name("a", pick(table.columns))) IN (SELECT \(name("a", pick(table.columns))) FROM \(from))",
                false
            )
        }
    }
}
