// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Splits one record of CSV (RFC 4180) into cells.
struct CSVRecord {
    /// A cell; one without quotes may be empty, which means null.
    struct Cell: Sendable, Equatable {
        let text: String
        let isQuoted: Bool
    }

    /// The cells of a record without its line end, which begins in `line`. Errors have a `line`.
    static func cells(_ bytes: ArraySlice<UInt8>, line: Int) throws(Problem) -> [Cell] {
        var record = CSVRecord(bytes, line: line)
        var cells: [Cell] = []
        while true {
            guard cells.count < maximumCount else { throw record.malformed("a line has at most \(maximumCount) cells") }
            cells.append(try record.cell())
            guard record.index < bytes.endIndex else { return cells }
            // A comma: nothing else ends a cell within a record.
            record.index += 1
        }
    }

    /// As many properties as a class can have, and a key.
    private static let maximumCount = 65_536

    private let bytes: ArraySlice<UInt8>
    private var index: Int
    private let line: Int

    private init(_ bytes: ArraySlice<UInt8>, line: Int) {
        self.bytes = bytes
        self.line = line
        index = bytes.startIndex
    }

    private func malformed(_ detail: String) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private mutating func cell() throws(Problem) -> Cell {
        guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else {
            let start = index
            while index < bytes.endIndex, bytes[index] != UInt8(ascii: ",") { index += 1 }
            return Cell(text: try text(bytes[start..<index]), isQuoted: false)
        }
        index += 1
        var content: [UInt8] = []
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else { return try quoted(content) }
                index += 1
            }
            content.append(byte)
        }
        throw malformed("a quoted cell does not end")
    }

    private func quoted(_ content: [UInt8]) throws(Problem) -> Cell {
        guard index >= bytes.endIndex || bytes[index] == UInt8(ascii: ",") else {
            throw malformed("something stands behind a quoted cell")
        }
        return Cell(text: try text(content[...]), isQuoted: true)
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("the text is not UTF-8") }
        return text
    }
}
