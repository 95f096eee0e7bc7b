// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Collects the results of one file in sections, and prints them as a table.
///
/// A ratio above 1 means that the result is better than the one it is compared with.
struct Report {
    /// The units of results: small times and large rates are good.
    enum Unit: String {
        /// Microseconds; a smaller result is better.
        case microseconds = "µs"
        /// Milliseconds; a smaller result is better.
        case milliseconds = "ms"
        /// A rate per second; a larger result is better.
        case perSecond = "/s"
    }

    /// One line of the table.
    private struct Row {
        /// The name of the measurement.
        let name: String
        /// The unit of the result and of the one it is compared with.
        let unit: Unit
        /// The result; nil if it could not be measured.
        let figure: Double?
        /// The result that it is compared with; nil if there is none.
        let other: Double?
        /// Additional text at the end of the line.
        let note: String
    }

    /// The sections: a title, the title of the column to compare with, and the lines.
    private var sections: [(title: String, other: String, rows: [Row])] = []

    /// Makes an empty report.
    ///
    /// - Parameter title: The title, which is the path of the measured file.
    init(title: String) { sections.append((title, "", [])) }

    /// Begins a section of the table.
    ///
    /// - Parameters:
    ///   - title: The title of the section.
    ///   - other: The title of the column to compare with; empty for none.
    mutating func begin(_ title: String, comparedWith other: String) { sections.append((title, other, [])) }

    /// Adds a line to the present section.
    ///
    /// - Parameters:
    ///   - name: The name of the measurement.
    ///   - unit: The unit of both results.
    ///   - figure: The result; nil if it could not be measured.
    ///   - other: The result that it is compared with; nil if there is none.
    ///   - note: Additional text at the end of the line.
    mutating func add(
        _ name: String, _ unit: Unit, _ figure: Double?, comparedWith other: Double? = nil, note: String = ""
    ) {
        sections[sections.count - 1].rows.append(Row(name: name, unit: unit, figure: figure, other: other, note: note))
    }

    /// The number of lines so far, from which measurements derive different keys.
    var rowCount: Int { sections.reduce(0) { $0 + $1.rows.count } }

    /// Prints all sections to standard output.
    func print() {
        for section in sections {
            Swift.print()
            let heads = section.other.isEmpty ? "" : padded("", 14) + padded(section.other, 12) + "ratio"
            Swift.print(padded(section.title, 50) + heads)
            for row in section.rows { Swift.print(Report.line(row)) }
        }
    }

    /// Returns the text of one line, with the ratio if there is another result.
    private static func line(_ row: Row) -> String {
        var line = "  " + padded(row.name, 46)
        guard let figure = row.figure else { return line + "         –" }
        line += number(figure, row.unit)
        if let other = row.other {
            let ratio = row.unit == .perSecond ? figure / other : other / figure
            // A result of zero has no ratio.
            line += number(other, row.unit) + (ratio.isFinite ? fixed(ratio, decimals: 2, width: 10) : "         –")
        }
        return row.note.isEmpty ? line : line + "   " + row.note
    }

    /// Returns a result with its unit, and with fewer decimals the larger it is.
    private static func number(_ value: Double, _ unit: Unit) -> String {
        fixed(value, decimals: value < 10 ? 3 : value < 1000 ? 1 : 0, width: 10) + " " + padded(unit.rawValue, 3)
    }
}
