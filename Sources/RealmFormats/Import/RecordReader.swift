// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Cuts the body of an import into records: lines, or records of CSV, in which quotes may contain line ends.
///
/// It reads the source in pieces and keeps no more than one record and one piece. A copy of the value continues from the same
/// position.
struct RecordReader: Sendable {
    /// The end of a record: a line feed, in CSV a line end outside quotes (LF, CR LF or CR), or the end of an element of a JSON
    /// array.
    enum Form: Sendable { case lines, csv, array }

    /// The state of the CSV scanner: at the start of a cell, inside its text, inside quotes, after
    /// a quote that may end the cell, or after a carriage return.
    private enum State { case start, inside, quoted, quote, carriageReturn }

    /// The mark that some programs put in front of UTF-8.
    static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// The number of bytes that are read from the source at once: 1 MiB.
    private static let pieceByteCount = 1 << 20

    /// The body of the import, which is read in pieces.
    private let source: ImportSource
    /// The end of a record: any line feed, or one outside quotes.
    private let form: Form
    /// The bytes that were read and not yet dropped.
    private var buffer: [UInt8] = []
    /// The position of the first byte of `buffer` in the body.
    private var base = 0
    /// The index in `buffer` at which the next record begins.
    private var start = 0
    /// The line in which the next record begins, from 1.
    private var line = 1
    /// The number of characters of this line that an array has before `start`.
    private var column = 0

    /// The separator of the cells of CSV. A quote is special only behind it.
    private let separator: UInt8
    /// The position inside an array.
    private var array = ArrayState.before
    /// Whether `next` passes over lines without anything, which mean nothing to the caller. It may return some of them.
    var skipsBlank = false

    /// The position in the body at which the next record begins.
    var position: Int { base + start }

    /// The position of a reader in a JSON array: before it, behind its bracket, behind a comma, behind an element, behind the
    /// array.
    private enum ArrayState { case before, begun, due, behind, after }

    /// Creates a reader at the beginning of a body.
    ///
    /// - Parameters:
    ///   - source: The body.
    ///   - form: The end of a record.
    ///   - separator: The separator of the cells of CSV.
    init(_ source: ImportSource, _ form: Form, separator: UInt8 = UInt8(ascii: ",")) {
        self.source = source
        self.form = form
        self.separator = separator
    }

    /// Goes to a record that this reader, or one of the same body, has returned before.
    mutating func move(to place: RecordPlace) {
        (buffer, base, start) = ([], place.offset, 0)
        (line, column) = (place.line, place.column)
        array = .due
    }

    /// Returns the number of lines that the records up to one take up as a whole.
    ///
    /// - Parameter last: The place of a record that was read before.
    func lineCount(upTo last: RecordPlace) -> Int {
        var rest = self
        rest.move(to: last)
        do throws(Problem) {
            _ = try rest.next()
            // Another element of an array may begin in the line in which this one ends.
            if form == .array { _ = try rest.skipToElement() }
        } catch {
            return max(last.line, rest.line) - 1
        }
        return rest.line - 1
    }

    /// Returns the next record without its line end, or nil at the end of the body.
    ///
    /// The last record need not have a line end. A byte order mark of UTF-8 is skipped.
    ///
    /// - Throws: `body_too_large` with `line` for a record that exceeds the limit of the source; `invalid_body` for UTF-16.
    mutating func next() throws(Problem) -> (place: RecordPlace, bytes: ArraySlice<UInt8>)? {
        if form == .array { return try nextElement() }
        if skipsBlank { passBlank() }
        var scanned = 0
        var state = State.start
        while true {
            if let end = end(after: &scanned, &state) { return take(upTo: end.record, next: end.next) }
            guard buffer.count - start <= source.recordLimit else { throw tooLong() }
            guard try refill() else { break }
        }
        guard start < buffer.count else { return nil }
        let record = take(upTo: state == .carriageReturn ? buffer.count - 1 : buffer.count, next: buffer.count)
        line += 1
        return record
    }

    /// Moves on to the next line with something in it, as far as `buffer` has it.
    private mutating func passBlank() {
        var index = start
        while index < buffer.count {
            switch buffer[index] {
            case 0x0a:
                index += 1
                start = index
                line += 1
            case 0x0d where form == .csv:
                // Whether a line feed belongs to it is seen with the next byte.
                guard index + 1 < buffer.count else { return }
                let isWhole = buffer[index + 1] == 0x0a
                index += isWhole ? 2 : 1
                start = index
                line += isWhole ? 1 : 0
            case 0x20, 0x09, 0x0d:
                guard form == .lines else { return }
                index += 1
            default: return
            }
        }
    }

    /// Makes the problem of a record that exceeds the limit.
    private func tooLong() -> Problem {
        Problem.overLimit(
            .bodyTooLarge, "a line is longer than \(source.recordLimit) bytes", limit: source.recordLimit
        ).with("line", .integer(Int64(line)))
    }

    /// Returns the record that begins at `start`, and moves on. Only a line feed ends a line, as for other programs.
    ///
    /// - Parameters:
    ///   - end: The index after the last byte of the record.
    ///   - next: The index at which the next record begins.
    private mutating func take(upTo end: Int, next: Int) -> (place: RecordPlace, bytes: ArraySlice<UInt8>) {
        let bytes = buffer[start..<end]
        let place = RecordPlace(line: line, offset: base + start, byteCount: end - start)
        if form == .csv {
            for byte in buffer[start..<next] where byte == UInt8(ascii: "\n") { line += 1 }
        } else if next > end {
            line += 1
        }
        start = next
        return (place, bytes)
    }

    /// Drops the records that were taken and reads another piece. Returns false at the end of the body.
    private mutating func refill() throws(Problem) -> Bool {
        let piece = try source.read(at: base + buffer.count, byteCount: RecordReader.pieceByteCount)
        guard !piece.isEmpty else { return false }
        buffer.removeSubrange(..<start)
        base += start
        start = 0
        buffer.append(contentsOf: piece)
        guard base == 0, buffer.count == piece.count else { return true }
        if buffer.starts(with: RecordReader.byteOrderMark) { start = RecordReader.byteOrderMark.count }
        guard !buffer.starts(with: [0xff, 0xfe]), !buffer.starts(with: [0xfe, 0xff]) else {
            throw malformed("the body is UTF-16; save it as UTF-8")
        }
        return true
    }

    // MARK: - Ends

    /// Returns the end of the record and the start of the next one; nil when `buffer` does not contain both.
    ///
    /// - Parameters:
    ///   - scanned: The number of bytes of the record that were examined before. They are not examined again.
    ///   - state: The state after those bytes.
    private func end(after scanned: inout Int, _ state: inout State) -> (record: Int, next: Int)? {
        guard form == .csv else {
            let index = buffer.firstLineFeed(from: start + scanned)
            scanned = buffer.count - start
            return index.map { (record: $0, next: $0 + 1) }
        }
        for index in (start + scanned)..<buffer.count {
            let byte = buffer[index]
            if state == .carriageReturn { return (record: index - 1, next: byte == UInt8(ascii: "\n") ? index + 1 : index) }
            if byte == UInt8(ascii: "\n"), state != .quoted { return (record: index, next: index + 1) }
            state = RecordReader.state(after: byte, state, separator)
        }
        scanned = buffer.count - start
        return nil
    }

    /// Returns the state of the CSV scanner after one more byte, which does not end the record.
    private static func state(after byte: UInt8, _ state: State, _ separator: UInt8) -> State {
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): return .quote
        case (.quoted, _): return .quoted
        // Two quotes inside a quoted cell represent one; a quote inside a bare cell is an ordinary character.
        case (.start, UInt8(ascii: "\"")), (.quote, UInt8(ascii: "\"")): return .quoted
        case (_, separator): return .start
        case (_, UInt8(ascii: "\r")): return .carriageReturn
        default: return .inside
        }
    }

    // MARK: - Arrays

    /// Returns the next element of a JSON array; nil behind its end.
    ///
    /// - Throws: `invalid_body` with `line` for a body that is no array, or does not end.
    private mutating func nextElement() throws(Problem) -> (place: RecordPlace, bytes: ArraySlice<UInt8>)? {
        guard try skipToElement() else { return nil }
        var index = start
        var (depth, isText, isEscaped, isClosed) = (0, false, false, false)
        while true {
            guard index < buffer.count else {
                let scanned = index - start
                guard scanned <= source.recordLimit else { throw tooLong() }
                guard try refill() else { throw malformed("the array does not end") }
                index = start + scanned
                continue
            }
            let byte = buffer[index]
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return element(upTo: index) }
                    depth -= 1
                    isClosed = depth == 0
                case UInt8(ascii: ","): if depth == 0 { return element(upTo: index) }
                case 0x20, 0x09, 0x0a, 0x0d: break
                case _ where isClosed:
                    _ = element(upTo: index)
                    throw malformed("there is no comma between two elements of the array")
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                default: break
                }
            }
            index += 1
        }
    }

    /// Returns the element that begins at `start`.
    private mutating func element(upTo end: Int) -> (place: RecordPlace, bytes: ArraySlice<UInt8>) {
        let bytes = buffer[start..<end]
        let place = RecordPlace(line: line, column: column, offset: base + start, byteCount: end - start)
        for byte in bytes { pass(byte) }
        start = end
        array = .behind
        return (place, bytes)
    }

    /// Counts a byte of an array to the lines and characters.
    private mutating func pass(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            line += 1
            column = 0
        } else if byte & 0xc0 != 0x80 {
            column += 1
        }
    }

    /// Advances to the first byte of the next element. Returns false behind the end of the array.
    private mutating func skipToElement() throws(Problem) -> Bool {
        while true {
            guard start < buffer.count else {
                guard try refill() else {
                    guard array == .after else { throw malformed("the array does not end") }
                    return false
                }
                continue
            }
            let byte = buffer[start]
            switch (byte, array) {
            case (0x20, _), (0x09, _), (0x0d, _), (0x0a, _): break
            case (UInt8(ascii: "["), .before): array = .begun
            case (_, .before): throw malformed("the body must be a JSON array of objects")
            case (UInt8(ascii: ","), .behind): array = .due
            case (UInt8(ascii: "]"), .begun), (UInt8(ascii: "]"), .behind): array = .after
            case (UInt8(ascii: ","), .begun), (UInt8(ascii: ","), .due), (UInt8(ascii: "]"), .due):
                throw malformed(
                    "an element of the array is missing; a comma stands between two elements, and none behind the last")
            case (_, .begun), (_, .due): return true
            default: throw malformed("the array is followed by other text, or an element by no comma")
            }
            pass(byte)
            start += 1
        }
    }

    /// Makes the problem of a body that is no array.
    private func malformed(_ detail: String) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }
}
