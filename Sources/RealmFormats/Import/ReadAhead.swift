// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads the records of an import on a separate thread, ahead of the transaction that writes them.
///
/// Reading takes longer than writing, so the thread that takes the records reads, too, instead of waiting. Records come out in
/// the order of the input.
///
/// The records that are read ahead are bounded by their length and their number. The thread ends with the input, with the first record that
/// cannot be read, or with the last reference to this value.
final class ReadAhead: Sendable {
    /// The result of parsing a block: its records up to the first that cannot be read, and the problem of that one.
    struct Parsed: Sendable {
        /// The objects and other records, without blank ones, in the order of the input.
        var pieces: [RecordPiece] = []
        /// The reason why the record after these cannot be read; nil when all are there.
        var problem: Problem?
        /// The length in bytes of the records as they stood in the input.
        fileprivate(set) var byteCount = 0
        /// The number of the next piece, and of the next record in it.
        private var next = (piece: 0, record: 0)

        /// Takes the next records, of which there are no more than `limit`; nil when all were taken.
        mutating func take(atMost limit: Int) -> RecordPiece.Part? {
            while next.piece < pieces.count {
                if let part = pieces[next.piece].part(from: next.record, atMost: limit) {
                    next.record += part.count
                    return part
                }
                next = (next.piece + 1, 0)
            }
            return nil
        }
    }

    /// Records that were cut off the input, and not read yet.
    private struct Raw: Sendable {
        /// The bytes of all records.
        var bytes: [UInt8] = []
        /// The place of each record in the input and in `bytes`.
        var records: [(place: RecordPlace, range: Range<Int>)] = []
        /// The reason why the record after these cannot be cut off; nil when there is no such problem.
        var problem: Problem?
        /// Whether there are no records behind these.
        var isLast = false
    }

    /// The state of a block that was not taken yet.
    private enum Block: Sendable {
        /// No thread has begun to read it.
        case raw(Raw)
        /// A thread reads it.
        case pending
        /// It can be taken.
        case parsed(Parsed)
    }

    /// A block that is about to be read.
    private struct Reading: Sendable {
        /// Its records.
        let raw: Raw
        /// Its number in the input.
        let number: Int
        /// The classes whose objects are read as rows.
        let shapes: [RowShape]
    }

    /// The state that the threads share.
    private struct State: Sendable {
        /// The blocks that were cut off and not taken yet, in the order of the input.
        var blocks: [Block] = []
        /// The number of taken blocks.
        var taken = 0
        /// The length in bytes of the records in `blocks`.
        var byteCount = 0
        /// Whether the whole input was cut into blocks.
        var isCut = false
        /// Whether no more records are wanted.
        var isAbandoned = false
        /// The classes whose objects are read as rows.
        var shapes: [RowShape]

        /// The position of the first block that no thread has begun to read.
        var firstRaw: Int? {
            blocks.firstIndex {
                if case .raw = $0 { return true }
                return false
            }
        }

        /// Takes the block at a position for reading, and returns it with its number.
        mutating func beginReading(_ position: Int) -> Reading? {
            guard case .raw(let raw) = blocks[position] else { return nil }
            blocks[position] = .pending
            return Reading(raw: raw, number: taken + position, shapes: shapes)
        }

        /// Stores the result of a block.
        mutating func finish(_ number: Int, _ parsed: Parsed) { blocks[number - taken] = .parsed(parsed) }
    }

    /// The length in bytes of the records of a block.
    private static let blockByteCount = 128 << 10
    /// The number of records of a block. Short ones take more memory than their text.
    private static let blockRecordCount = 4096
    /// The length in bytes of the input that a block comes from; blank lines in it leave nothing.
    private static let blockInputByteCount = 4 << 20
    /// The number of blocks that are cut off ahead at most.
    private static let blockCount = 12
    /// The length in bytes of all blocks that are cut off ahead; a longer one is alone.
    private static let aheadByteCount = 12 * blockByteCount
    /// The length of an input from which on a thread is worth its start.
    static let leastByteCount = 4 * blockByteCount

    /// The blocks, and the state of the input.
    private let monitor: Monitor<State>
    /// Reads single records.
    private let parser: RecordParser

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - records: Cuts the rest of the input into records.
    ///   - parser: Reads single records.
    ///   - shapes: The classes whose objects are read as rows.
    /// - Returns: Nil when no thread can be started.
    static func start(_ records: RecordReader, _ parser: RecordParser, _ shapes: [RowShape]) -> ReadAhead? {
        let monitor = Monitor(State(shapes: shapes), rank: .leaf)
        do throws(Threads.Failure) {
            try Threads.start("import") { ReadAhead.work(monitor, records, parser) }
        } catch {
            return nil
        }
        return ReadAhead(monitor, parser)
    }

    /// Makes the end at which records are taken.
    private init(_ monitor: Monitor<State>, _ parser: RecordParser) {
        self.monitor = monitor
        self.parser = parser
    }

    func endRows() { monitor.broadcast { $0.shapes = [] } }

    deinit { monitor.broadcast { $0.isAbandoned = true } }

    /// Returns the next records of the input; nil at its end. Only one thread may call this.
    func next() -> Parsed? {
        /// The next possible step.
        enum Step {
            case take(Parsed), read(Reading), end
        }
        while true {
            let step = monitor.wait { (state) -> Step? in
                guard let first = state.blocks.first else { return state.isCut ? .end : nil }
                if case .parsed(let parsed) = first {
                    state.blocks.removeFirst()
                    state.taken += 1
                    state.byteCount -= parsed.byteCount
                    return .take(parsed)
                }
                return state.firstRaw.flatMap { state.beginReading($0) }.map { .read($0) }
            }
            switch step {
            case .take(let parsed)?:
                // There is room for another block now.
                monitor.broadcast { _ in }
                return parsed
            case .read(let reading)?:
                let parsed = ReadAhead.parse(reading, parser)
                monitor.broadcast { $0.finish(reading.number, parsed) }
            case .end?, nil: return nil
            }
        }
    }

    // MARK: - The thread

    /// Cuts the input into blocks, and reads those that are there already while there are enough of them.
    private static func work(_ monitor: Monitor<State>, _ records: RecordReader, _ parser: RecordParser) {
        /// The next possible step.
        enum Step {
            case cut, read(Reading), end
        }
        var records = records
        while true {
            let step = monitor.wait { (state) -> Step? in
                if state.isAbandoned { return .end }
                let position = state.firstRaw
                // One block is left for the thread that takes the records.
                let raws = position.map { state.blocks.count - $0 } ?? 0
                if !state.isCut, raws < 2, state.blocks.count < blockCount, state.byteCount < aheadByteCount { return .cut }
                guard let position, let reading = state.beginReading(position) else { return state.isCut ? .end : nil }
                return .read(reading)
            }
            switch step {
            case .cut?:
                let raw = cut(&records)
                monitor.broadcast { state in
                    state.isCut = raw.isLast
                    state.byteCount += raw.bytes.count
                    state.blocks.append(.raw(raw))
                }
            case .read(let reading)?:
                let parsed = parse(reading, parser)
                monitor.broadcast { $0.finish(reading.number, parsed) }
            case .end?, nil: return
            }
        }
    }

    /// Cuts the next block off the input.
    private static func cut(_ records: inout RecordReader) -> Raw {
        var raw = Raw()
        let end = records.position + blockInputByteCount
        do throws(Problem) {
            while raw.bytes.count < blockByteCount, raw.records.count < blockRecordCount, records.position < end {
                guard let (place, bytes) = try records.next() else {
                    raw.isLast = true
                    break
                }
                if raw.bytes.isEmpty { raw.bytes.reserveCapacity(blockByteCount + blockByteCount / 8) }
                let start = raw.bytes.count
                raw.bytes.append(contentsOf: bytes)
                raw.records.append((place, start..<raw.bytes.count))
            }
        } catch {
            raw.problem = error
            raw.isLast = true
        }
        return raw
    }

    /// Reads the records of a block.
    private static func parse(_ reading: Reading, _ parser: RecordParser) -> Parsed {
        let raw = reading.raw
        var parsed = Parsed()
        parsed.byteCount = raw.bytes.count
        var rows = RowParser(parser, reading.shapes, byteCount: raw.bytes.count, recordCount: raw.records.count)
        var next = 0
        while next < raw.records.count, rows.add(raw.bytes[raw.records[next].range], raw.records[next].place) { next += 1 }
        parsed.pieces = rows.finish()
        var records: [RecordParser.Record] = []
        records.reserveCapacity(raw.records.count - next)
        var names = JSONNames()
        do throws(Problem) {
            for (place, range) in raw.records[next...] {
                if let record = try parser.record(raw.bytes[range], place, &names) { records.append(record) }
            }
            parsed.problem = raw.problem
        } catch {
            parsed.problem = error
        }
        if !records.isEmpty { parsed.pieces.append(.records(records)) }
        return parsed
    }
}
