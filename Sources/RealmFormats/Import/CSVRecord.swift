// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Splits one record of CSV (RFC 4180) into cells.
///
/// `RecordReader` found the ends of the record before, so line ends inside belong to quoted cells.
struct CSVRecord {
    /// One cell of a record, without its quotes.
    struct Cell: Sendable, Equatable {
        /// The contents of the cell, with doubled quotes made single.
        let text: String
        /// Whether the cell was in quotes. An empty cell without quotes means null, one with quotes the empty string.
        let isQuoted: Bool
    }

    /// Returns the cells of a record.
    ///
    /// - Parameters:
    ///   - bytes: The record without its line end.
    ///   - line: The line in which it begins, from 1, for errors.
    /// - Throws: `invalid_body` with `line` for a quoted cell that does not end or is followed by
    ///   other text, for text that is not UTF-8, and for too many cells.
    static func cells(
        _ bytes: ArraySlice<UInt8>, line: Int, separator: UInt8 = UInt8(ascii: ",")
    ) throws(Problem) -> [Cell] {
        var record = CSVRecord(bytes, line: line, separator: separator)
        var cells: [Cell] = []
        while true {
            guard cells.count < maximumCount else { throw record.malformed("a line has at most \(maximumCount) cells") }
            cells.append(try record.cell())
            guard record.index < bytes.endIndex else { return cells }
            // Skips the separator: nothing else ends a cell within a record.
            record.index += 1
        }
    }

    /// The largest number of cells: as many properties as a class can have, and a key.
    private static let maximumCount = 65_536

    /// The bytes of the record, without its line end.
    private let bytes: ArraySlice<UInt8>
    /// The separator of cells.
    private let separator: UInt8
    /// The position of the next byte to read.
    private var index: Int
    /// The line in which the record begins.
    private let line: Int

    /// Creates a splitter at the start of a record.
    private init(_ bytes: ArraySlice<UInt8>, line: Int, separator: UInt8) {
        self.bytes = bytes
        self.separator = separator
        self.line = line
        index = bytes.startIndex
    }

    private func malformed(_ detail: String) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    /// Reads the cell at `index`, and leaves `index` at the separator after it or at the end.
    private mutating func cell() throws(Problem) -> Cell {
        guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else {
            let start = index
            while index < bytes.endIndex, bytes[index] != separator { index += 1 }
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
        throw malformed("a quoted cell does not end; a quote inside of one is written twice")
    }

    /// Makes a cell of the text inside quotes, if a separator or the end follows them.
    private func quoted(_ content: [UInt8]) throws(Problem) -> Cell {
        guard index >= bytes.endIndex || bytes[index] == separator else {
            throw malformed("a quoted cell is followed by other text; a quote inside of one is written twice")
        }
        return Cell(text: try text(content[...]), isQuoted: true)
    }

    /// Returns bytes as text; throws when they are not UTF-8.
    private func text(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw malformed("the text is not UTF-8; save it as UTF-8, which Excel calls CSV UTF-8")
        }
        return text
    }
}
