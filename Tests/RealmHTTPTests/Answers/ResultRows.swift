// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// A server with one realm in memory and many rows, and what a test knows of each row without asking for it.
final class ResultRows: Sendable {
    /// One row as it was written; `owner` is the number of an owner.
    struct Row: Sendable {
        let id: Int
        let group: Int?
        let name: String?
        let real: Double?
        let owner: Int?
    }

    /// An owner as it was written; its number is its place.
    struct Owner: Sendable {
        let rank: Int?
        let boss: Int?
    }

    /// What a row has at the end of a path, as results order it.
    enum Cell: Hashable {
        case null, notANumber
        case number(Double)
        case text([UInt8])
        /// A link on the way leads nowhere.
        case missing

        private var rank: Int {
            switch self {
            case .null: 0
            case .notANumber: 1
            case .number: 2
            case .text: 3
            case .missing: 4
            }
        }

        /// Nulls come first, and what no path leads to comes last.
        static func precedes(_ one: Cell, _ other: Cell) -> Bool {
            switch (one, other) {
            case (.number(let one), .number(let other)): one < other
            case (.text(let one), .text(let other)): one.lexicographicallyPrecedes(other)
            default: one.rank < other.rank
            }
        }

        init(_ number: Int?) { self = number.map { .number(Double($0)) } ?? .null }

        init(_ number: Double?) { self = number.map { $0.isNaN ? .notANumber : .number($0) } ?? .null }

        init(_ text: String?) { self = text.map { .text(Array($0.utf8)) } ?? .null }
    }

    /// A condition as a query says it, and as a scan of all rows does.
    struct Filter: Sendable {
        let text: String
        let args: String
        let matches: @Sendable (Row, ResultRows) -> Bool

        /// As parameters of a URL.
        var query: String { "where=\(ChangeServer.encode(text))&args=\(ChangeServer.encode(args))" }
    }

    /// One server for all tests that only read.
    static let shared = Result { try ResultRows() }

    static let classes = """
        [{"name":"Owner","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"rank","type":"int","optional":true},
          {"name":"boss","type":"object","objectType":"Owner"}]},
         {"name":"Row","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"group","type":"int","optional":true},
          {"name":"name","type":"string","optional":true},{"name":"real","type":"double","optional":true},
          {"name":"owner","type":"object","objectType":"Owner"}]}]
        """

    let server: ChangeServer
    /// In the order they were made in, which decides among equal ones.
    let rows: [Row]
    let owners: [Owner]

    init() throws {
        var generator = SeededGenerator(seed: 23)
        func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &generator)] }
        let ids = (1...160).shuffled(using: &generator)
        owners = [1, nil, 1, 2, 3, 3, 5, nil].enumerated().map { Owner(rank: $1, boss: $0 < 2 ? nil : $0 / 2) }
        rows = ids.map { id in
            Row(
                id: id, group: pick([nil, 1, 2, 2, 3, -4]), name: pick([nil, "", "ann", "Ann", "ab", "é", "z\u{0}", "zz"]),
                real: pick([nil, -1.5, 0, 2.25, .nan, 1e300, -.infinity]), owner: pick([nil, 0, 1, 2, 3, 4, 5, 6, 7]))
        }
        server = try ChangeServer()
        try server.makeRealm("app", classes: ResultRows.classes)
        func json(_ number: Int?) -> String { number.map(String.init) ?? "null" }
        var ops = owners.enumerated().map { id, owner in
            #"{"create":{"class":"Owner","body":{"_id":\#(id),"rank":\#(json(owner.rank)),"boss":\#(json(owner.boss))}}}"#
        }
        ops += rows.map { row in
            let name = row.name.map(ParsedJSON.quoted) ?? "null"
            let real = row.real.map { $0.isNaN ? #""NaN""# : $0.isInfinite ? #""-Infinity""# : "\($0)" } ?? "null"
            return
                #"{"create":{"class":"Row","body":{"_id":\#(row.id),"group":\#(json(row.group)),"name":\#(name),"real":\#(real),"#
                + #""owner":\#(json(row.owner))}}}"#
        }
        try server.batch("app", ops)
    }

    // MARK: - What is expected

    /// The paths that `cell` knows.
    static let paths = ["_id", "group", "name", "real", "owner.rank", "owner.boss.rank"]

    func cell(_ path: String, _ row: Row) -> Cell {
        let owner = row.owner.map { owners[$0] }
        switch path {
        case "group": return Cell(row.group)
        case "name": return Cell(row.name)
        case "real": return Cell(row.real)
        case "owner": return Cell(row.owner)
        case "owner.rank": return owner.map { Cell($0.rank) } ?? .missing
        case "owner.boss.rank": return owner?.boss.map { Cell(owners[$0].rank) } ?? .missing
        default: return Cell(row.id)
        }
    }

    /// The rows in the order of `sort`, such as `-group,owner.rank`; equal ones in the order they were made in.
    func sorted(_ rows: [Row], _ sort: String) -> [Row] {
        let terms = sort.split(separator: ",").map { (path: String($0.drop { $0 == "-" }), isDescending: $0.hasPrefix("-")) }
        return rows.enumerated().sorted { one, other in
            for term in terms {
                let (left, right) = (cell(term.path, one.element), cell(term.path, other.element))
                if Cell.precedes(left, right) { return !term.isDescending }
                if Cell.precedes(right, left) { return term.isDescending }
            }
            return one.offset < other.offset
        }.map(\.element)
    }

    /// The first row of each combination of cells; those that a path does not reach are left out.
    func distinct(_ rows: [Row], _ paths: [String]) -> [Row] {
        var seen = Set<[Cell]>()
        return rows.filter { row in
            let cells = paths.map { cell($0, row) }
            return !cells.contains(.missing) && seen.insert(cells).inserted
        }
    }

    func rows(_ filter: Filter) -> [Row] { rows.filter { filter.matches($0, self) } }

    static let filters: [Filter] = [
        Filter(text: "group == $0", args: "[2]") { row, _ in row.group == 2 },
        Filter(text: "group == $0", args: "[null]") { row, _ in row.group == nil },
        Filter(text: "group > $0 AND name != $1", args: "[1,null]") { row, _ in (row.group ?? 0) > 1 && row.name != nil },
        Filter(text: "name BEGINSWITH[c] $0", args: #"["A"]"#) { row, _ in
            row.name.map { $0.hasPrefix("a") || $0.hasPrefix("A") } ?? false
        },
        Filter(text: "real < $0 OR _id == $1", args: "[0.5,7]") { row, _ in (row.real ?? 1) < 0.5 || row.id == 7 },
        Filter(text: "owner.rank IN $0", args: "[[1,3]]") { row, rows in
            [1, 3].contains(row.owner.map { rows.owners[$0].rank ?? 0 } ?? 0)
        },
        Filter(text: "owner == NULL", args: "[]") { row, _ in row.owner == nil },
        Filter(text: "owner.boss.rank >= $0", args: "[2]") { row, rows in
            (row.owner.flatMap { rows.owners[$0].boss }.flatMap { rows.owners[$0].rank } ?? 0) >= 2
        },
        Filter(text: "_id BETWEEN {$0, $1}", args: "[50,120]") { row, _ in (50...120).contains(row.id) },
        Filter(text: "NOT group IN {1, 2}", args: "[]") { row, _ in row.group != 1 && row.group != 2 },
        Filter(text: "group == $0", args: "[99]") { _, _ in false },
    ]

    // MARK: - What is answered

    /// The ids of all rows of a result.
    func ids(_ query: String) throws -> [Int] { try page("limit=1000&" + query).ids }

    /// A page of a result, with the ids of its rows.
    func page(_ query: String) throws -> (ids: [Int], answer: ParsedJSON) {
        let answer = try server.must("GET", "app/objects/Row?fields=_id&meta=none&" + query)
        guard let items = answer["items"]?.elements else { throw ChangeServer.Refused(description: answer.serialized) }
        return (items.compactMap { $0["_id"]?.int }, answer)
    }

    /// The ids of all rows of a result that is streamed line by line.
    func streamed(_ query: String) throws -> [Int] {
        let answer = try server.send("GET", "app/objects/Row?format=ndjson&fields=_id&meta=none&" + query)
        guard answer.status == 200, answer.isComplete else { throw ChangeServer.Refused(description: answer.text) }
        return try answer.text.split(separator: "\n").compactMap { try ParsedJSON(parsing: String($0))["_id"]?.int }
    }
}
