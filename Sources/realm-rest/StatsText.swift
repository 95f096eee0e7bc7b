// SPDX-License-Identifier: Apache-2.0

internal import RealmHosting
internal import RealmPlatform
import RealmVerify

/// The output of `realm-rest stats` for people: the parts of a file by falling size.
struct StatsText {
    /// The lines so far, each with its final newline.
    private(set) var text = ""
    private let report: SizeReport

    /// The number of characters that the names of facts take.
    private static let factWidth = 16
    /// The number of characters that sizes take.
    private static let sizeWidth = 11
    /// The most unreadable nodes that are listed.
    private static let listedDamage = 20

    /// Makes the lines about a file.
    ///
    /// - Parameters:
    ///   - name: Its name in the first line.
    init(_ report: SizeReport, name: String) {
        self.report = report
        fact("File", name)
        fact("Size", "\(report.fileBytes) bytes: \(StatsText.size(report.fileBytes))")
        var form = report.fileFormat == 0 ? "nothing was ever written" : "format \(report.fileFormat)"
        if let version = report.version { form += ", version \(version)" }
        if report.isEncrypted { form += ", encrypted" }
        fact("Form", form)
        if let bytes = report.compactedBytes { fact("After compact", "about \(StatsText.size(bytes))") }
        if let free = report.free, free.blockCount > 0 {
            let blocks = InfoText.count(free.blockCount, "block", "blocks")
            fact("Free", "\(StatsText.size(free.bytes)) in \(blocks), the largest of \(StatsText.size(free.largestBlock))")
        }
        text += "\n"
        for part in parts { add(part) }
        addLargest()
        addDamage()
    }

    /// A line of the table, with the lines below it.
    private struct Part {
        let name: String
        let bytes: UInt64
        var properties: [Part] = []
    }

    /// The parts that have bytes, by falling size.
    private var parts: [Part] {
        let names: [(String, KeyPath<SizeReport.Parts, UInt64>)] = [
            ("header", \.header), ("list of tables", \.top), ("lists of free space", \.freeLists),
            ("history of changes, as SDKs keep it", \.history), ("free", \.free),
            ("used by nothing, or not readable", \.unaccounted), ("behind the end of the data", \.tail),
            ("tables of encrypted pages", \.pageTables),
        ]
        var parts = names.map { Part(name: $0.0, bytes: report.parts[keyPath: $0.1]) }
        parts += report.classes.map { StatsText.part($0, "object", "objects") }
        parts += report.otherTables.map { StatsText.part($0, "row", "rows") }
        return StatsText.sorted(parts)
    }

    /// Returns the lines about a table.
    private static func part(_ table: SizeReport.Table, _ one: String, _ many: String) -> Part {
        let count = table.objectCount.map { InfoText.count(Int(clamping: $0), one, many) } ?? "\(many) not counted"
        var properties = table.properties.map { Part(name: name(of: $0), bytes: $0.bytes) }
        properties.append(Part(name: "(schema)", bytes: table.schema))
        properties.append(Part(name: "(keys of the \(many))", bytes: table.keys))
        properties.append(Part(name: "(deleted, but linked to)", bytes: table.tombstones))
        properties.append(Part(name: "(of no property)", bytes: table.other))
        let note = table.isComplete ? "" : ", not all readable"
        return Part(name: "\(table.name) (\(count)\(note))", bytes: table.bytes, properties: sorted(properties))
    }

    /// Returns the name of a property with its parts other than the values.
    private static func name(of property: SizeReport.Property) -> String {
        let parts = [
            ("collections", property.collections), ("index", property.index), ("incoming links", property.backlinks),
        ].filter { $0.1 > 0 }.map { "\($0.0) \(size($0.1))" }
        return parts.isEmpty ? property.name : "\(property.name): \(parts.joined(separator: ", "))"
    }

    /// Returns the parts that have bytes; the order of those of one size does not change.
    private static func sorted(_ parts: [Part]) -> [Part] {
        parts.filter { $0.bytes > 0 }.enumerated().sorted { ($1.element.bytes, $0.offset) < ($0.element.bytes, $1.offset) }.map(
            \.element)
    }

    // MARK: - Lines

    private mutating func fact(_ name: String, _ value: String) {
        line(StatsText.padded(name, to: StatsText.factWidth) + value)
    }

    private mutating func line(_ line: String) { text += StandardStreams.printable(line) + "\n" }

    private mutating func add(_ part: Part) {
        line(figures(part.bytes) + "  " + part.name)
        for property in part.properties { line(figures(property.bytes) + "    " + property.name) }
    }

    /// Returns a size and its share of the file.
    private func figures(_ bytes: UInt64) -> String {
        let share = report.fileBytes == 0 ? 0 : Int((Double(bytes) * 1000 / Double(report.fileBytes)).rounded())
        return StatsText.aligned(StatsText.size(bytes), to: StatsText.sizeWidth)
            + StatsText.aligned("\(share / 10).\(share % 10) %", to: 9)
    }

    private mutating func addLargest() {
        guard !report.largest.isEmpty else { return }
        text += "\nLargest values\n"
        for value in report.largest {
            line(
                StatsText.aligned(StatsText.size(value.bytes), to: StatsText.sizeWidth)
                    + "  \(value.table).\(value.property) of \(value.keyText)")
        }
    }

    private mutating func addDamage() {
        guard report.damageCount > 0 else { return }
        text += "\nNot readable: \(InfoText.count(report.damageCount, "node", "nodes"))\n"
        for damage in report.damage.prefix(StatsText.listedDamage) {
            let place = [damage.table, damage.property].compactMap(\.self).joined(separator: ".")
            line("  0x\(String(damage.offset, radix: 16))  \(place.isEmpty ? "" : place + ": ")\(damage.reason)")
        }
    }

    // MARK: - Texts

    /// Returns a size in the greatest unit of which there is at least one, such as `1.5 MiB`.
    private static func size(_ bytes: UInt64) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var (unit, scale) = (0, UInt64(1024))
        while unit < units.count - 1, bytes >= scale << 10 { (unit, scale) = (unit + 1, scale << 10) }
        let tenths = Int((Double(bytes) * 10 / Double(scale)).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static let units = ["KiB", "MiB", "GiB", "TiB"]

    private static func aligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
