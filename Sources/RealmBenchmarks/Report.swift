// SPDX-License-Identifier: Apache-2.0

/// Collects the rows of one table and prints it. A ratio above 1 is better than what is compared with.
struct Report {
    /// Milliseconds are better small, rates are better large.
    enum Unit: String {
        case milliseconds = "ms"
        case perSecond = "/s"
    }

    private struct Row {
        let name: String
        let unit: Unit
        let figure: Double?
        let other: Double?
        let note: String
    }

    private var sections: [(title: String, other: String, rows: [Row])] = []

    init(title: String) { sections.append((title, "", [])) }

    /// Begins a part of the table; `other` heads the column to compare with.
    mutating func begin(_ title: String, comparedWith other: String) { sections.append((title, other, [])) }

    /// `figure` is nil for what could not be measured, `other` for what there is nothing to compare with.
    mutating func add(
        _ name: String, _ unit: Unit, _ figure: Double?, comparedWith other: Double? = nil, note: String = ""
    ) {
        sections[sections.count - 1].rows.append(Row(name: name, unit: unit, figure: figure, other: other, note: note))
    }

    /// Rows so far.
    var rowCount: Int { sections.reduce(0) { $0 + $1.rows.count } }

    func print() {
        for section in sections {
            Swift.print()
            let heads = section.other.isEmpty ? "" : padded("", 14) + padded(section.other, 12) + "ratio"
            Swift.print(padded(section.title, 50) + heads)
            for row in section.rows { Swift.print(Report.line(row)) }
        }
    }

    private static func line(_ row: Row) -> String {
        var line = "  " + padded(row.name, 46)
        guard let figure = row.figure else { return line + "         –" }
        line += number(figure, row.unit)
        if let other = row.other {
            let ratio = row.unit == .milliseconds ? other / figure : figure / other
            // What took no time at all has no ratio.
            line += number(other, row.unit) + (ratio.isFinite ? fixed(ratio, decimals: 2, width: 10) : "         –")
        }
        return row.note.isEmpty ? line : line + "   " + row.note
    }

    private static func number(_ value: Double, _ unit: Unit) -> String {
        fixed(value, decimals: value < 10 ? 3 : value < 1000 ? 1 : 0, width: 10) + " " + padded(unit.rawValue, 3)
    }
}
