// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The findings of a recovery, in printed form.
package struct RecoveryReport {
    private let recovery: Recovery
    /// The lines that are printed.
    private let lines: [RecoveredLine]
    /// The name and version of the program.
    private let tool: String
    /// The options of the command, as words.
    private let options: [String]
    /// The path that each line states; nil where only one file is examined.
    private let fileName: String?
    /// The SHA-256 of the file after the search; nil when it cannot be read any more.
    package let digestAfter: [UInt8]?

    /// Makes a report, and reads the file once more to state that it did not change.
    ///
    /// - Parameters:
    ///   - lines: The lines that are printed.
    ///   - tool: The name and version of the program.
    ///   - options: The options of the command, as words.
    ///   - fileName: The path that each line states; nil where only one file is examined.
    package init(_ recovery: Recovery, _ lines: [RecoveredLine], tool: String, options: [String], fileName: String? = nil) {
        (self.recovery, self.lines, self.tool, self.options, self.fileName) = (recovery, lines, tool, options, fileName)
        digestAfter = try? recovery.file.digestNow()
    }

    /// Writes a line for the file, one for each state, and one for the end.
    package func writeLines(hasEvidence: Bool, to sink: ([UInt8]) throws -> Void) rethrows {
        try sink(begin + [UInt8(ascii: "\n")])
        for index in lines.indices { try sink(state(index, hasEvidence) + [UInt8(ascii: "\n")]) }
        try sink(end + [UInt8(ascii: "\n")])
    }

    package func writeDocument(hasEvidence: Bool, to sink: ([UInt8]) throws -> Void) rethrows {
        // Both lines are objects with one member.
        try sink(begin.dropLast() + Array(",\"states\":[".utf8))
        for index in lines.indices {
            if index > 0 { try sink([UInt8(ascii: ",")]) }
            try sink(state(index, hasEvidence))
        }
        try sink(Array("],".utf8) + end.dropFirst() + [UInt8(ascii: "\n")])
    }

    /// Writes a table of the states of one class, with what is known of each state before its properties.
    ///
    /// An empty cell is null or lost; `$lost` names what is lost.
    package func writeTable(to sink: ([UInt8]) throws -> Void) rethrows {
        var names: [String] = []
        for line in lines {
            for column in line.best.leaf.columns where !names.contains(column.name) { names.append(column.name) }
        }
        let facts = ["$kind", "$certainty", "$versions", "$unproven", "$lost", "$leaf", "$key"]
        try sink(RecoveryReport.row((facts + names).map { Array($0.utf8) }))
        for line in lines {
            var losses = Array("{".utf8)
            for (name, reason) in line.losses { losses.append(member: name, string: reason) }
            let lost = losses.count == 1 ? [] : losses + [UInt8(ascii: "}")]
            let texts = [
                line.kind.rawValue, line.certainty.rawValue, line.versions.map { "\($0)" }.joined(separator: " "),
                line.unproven.joined(separator: ","),
            ]
            var cells = texts.map { Array($0.utf8) } + [lost, Array("0x\(String(line.best.leaf.ref, radix: 16))".utf8)]
            cells.append(Array((line.key ?? "").utf8))
            for name in names {
                cells.append(line.best.value(named: name).map(RecoveryReport.cell) ?? [])
            }
            try sink(RecoveryReport.row(cells))
        }
    }

    // MARK: - Pieces

    /// The line `$begin`.
    private var begin: [UInt8] {
        recovery.beginLine(tool: tool, options: options, EvidenceSurroundings(ofFile: recovery.file.path))
    }

    /// The line `$end`.
    private var end: [UInt8] { recovery.endLine(lines, digestAfter: digestAfter) }

    /// Returns the line of a state.
    private func state(_ index: Int, _ hasEvidence: Bool) -> [UInt8] {
        let text = lines[index].json(id: "r1-\(index + 1)", hasEvidence: hasEvidence)
        guard let fileName else { return text }
        var named = Array(text.dropLast())
        named.append(member: "file", string: fileName)
        return named + [UInt8(ascii: "}")]
    }

    /// Returns a value as the text of a cell: nothing for null, a text without its quotes where it has no escapes, else JSON.
    private static func cell(_ value: ArraySlice<UInt8>) -> [UInt8] {
        if value.elementsEqual("null".utf8) { return [] }
        guard value.first == UInt8(ascii: "\""), value.count >= 2 else { return Array(value) }
        return unescaped(value.dropFirst().dropLast())
    }

    /// Returns the text of a JSON string that this module wrote.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let mark = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch mark {
            case UInt8(ascii: "n"): result.append(0x0a)
            case UInt8(ascii: "r"): result.append(0x0d)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                result.append(UInt8(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(4)
            default: result.append(mark)
            }
        }
        return result
    }

    /// Returns a row of a table as RFC 4180 has it.
    private static func row(_ cells: [[UInt8]]) -> [UInt8] {
        var row: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { row.append(UInt8(ascii: ",")) }
            guard cell.contains(where: { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }) else {
                row += cell
                continue
            }
            row.append(UInt8(ascii: "\""))
            for byte in cell { row += byte == 0x22 ? [byte, byte] : [byte] }
            row.append(UInt8(ascii: "\""))
        }
        return row + [0x0d, 0x0a]
    }
}
