// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads the records of an import on a thread of its own, ahead of the transaction that writes them.
///
/// Reading takes longer than writing, so whoever takes the records reads, too, while it would wait. Records come out in the order
/// of the input whoever has read them.
///
/// The number of records that are read ahead is bounded by their length. The thread ends with the input, with the first record that
/// cannot be read, or with the last reference to this value.
final class ReadAhead: Sendable {
    /// What a block became: its records up to the first that cannot be read, and the problem of that one.
    struct Parsed: Sendable {
        /// The records, without blank ones.
        var records: [RecordParser.Record] = []
        /// Why the record after these cannot be read; nil when all are there.
        var problem: Problem?
    }

    /// Records that were cut off the input, and not read yet.
    private struct Raw: Sendable {
        /// The bytes of all records.
        var bytes: [UInt8] = []
        /// The place of each record in the input and in `bytes`.
        var records: [(place: RecordPlace, range: Range<Int>)] = []
        /// Why the record after these cannot be cut off; nil when there is no such problem.
        var problem: Problem?
        /// Whether there are no records behind these.
        var isLast = false
    }

    /// The state of a block that nobody has taken yet.
    private enum Block: Sendable {
        /// Nobody has begun to read it.
        case raw(Raw)
        /// A thread reads it.
        case pending
        /// It can be taken.
        case parsed(Parsed)
    }

    /// What the threads share.
    private struct State: Sendable {
        /// The blocks that were cut off and not taken yet, in the order of the input.
        var blocks: [Block] = []
        /// How many blocks were taken.
        var taken = 0
        /// Whether the whole input was cut into blocks.
        var isCut = false
        /// Whether nobody wants any more records.
        var isAbandoned = false

        /// The position of the first block that nobody has begun to read.
        var firstRaw: Int? {
            blocks.firstIndex {
                if case .raw = $0 { return true }
                return false
            }
        }

        /// Takes the block at a position for reading, and returns it with its number.
        mutating func beginReading(_ position: Int) -> (raw: Raw, number: Int)? {
            guard case .raw(let raw) = blocks[position] else { return nil }
            blocks[position] = .pending
            return (raw, taken + position)
        }

        /// Stores what became of a block.
        mutating func finish(_ number: Int, _ parsed: Parsed) { blocks[number - taken] = .parsed(parsed) }
    }

    /// The length in bytes of the records of a block.
    private static let blockByteCount = 128 << 10
    /// How many blocks are cut off ahead at most.
    private static let blockCount = 12
    /// The length of an input from which on a thread is worth its start.
    static let leastByteCount = 4 * blockByteCount

    /// The blocks, with what is known of the input.
    private let monitor: Monitor<State>
    /// Reads single records.
    private let parser: RecordParser

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - records: Cuts the rest of the input into records.
    ///   - parser: Reads single records.
    /// - Returns: Nil when no thread can be started.
    static func start(_ records: RecordReader, _ parser: RecordParser) -> ReadAhead? {
        let monitor = Monitor(State(), rank: .leaf)
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

    deinit { monitor.broadcast { $0.isAbandoned = true } }

    /// Returns the next records of the input; nil at its end. Only one thread may call this.
    func next() -> Parsed? {
        /// What can be done at the moment.
        enum Step {
            case take(Parsed), read(Raw, Int), end
        }
        while true {
            let step = monitor.wait { (state) -> Step? in
                guard let first = state.blocks.first else { return state.isCut ? .end : nil }
                if case .parsed(let parsed) = first {
                    state.blocks.removeFirst()
                    state.taken += 1
                    return .take(parsed)
                }
                guard let position = state.firstRaw, let (raw, number) = state.beginReading(position) else { return nil }
                return .read(raw, number)
            }
            switch step {
            case .take(let parsed)?:
                // There is room for another block now.
                monitor.broadcast { _ in }
                return parsed
            case .read(let raw, let number)?:
                let parsed = ReadAhead.parse(raw, parser)
                monitor.broadcast { $0.finish(number, parsed) }
            case .end?, nil: return nil
            }
        }
    }

    // MARK: - The thread

    /// Cuts the input into blocks, and reads those that are there already while there are enough of them.
    private static func work(_ monitor: Monitor<State>, _ records: RecordReader, _ parser: RecordParser) {
        /// What can be done at the moment.
        enum Step {
            case cut, read(Raw, Int), end
        }
        var records = records
        while true {
            let step = monitor.wait { (state) -> Step? in
                if state.isAbandoned { return .end }
                let position = state.firstRaw
                // One block is left for the thread that takes the records.
                let raws = position.map { state.blocks.count - $0 } ?? 0
                if !state.isCut, raws < 2, state.blocks.count < blockCount { return .cut }
                guard let position, let (raw, number) = state.beginReading(position) else { return state.isCut ? .end : nil }
                return .read(raw, number)
            }
            switch step {
            case .cut?:
                let raw = cut(&records)
                monitor.broadcast { state in
                    state.isCut = raw.isLast
                    state.blocks.append(.raw(raw))
                }
            case .read(let raw, let number)?:
                let parsed = parse(raw, parser)
                monitor.broadcast { $0.finish(number, parsed) }
            case .end?, nil: return
            }
        }
    }

    /// Cuts the next block off the input.
    private static func cut(_ records: inout RecordReader) -> Raw {
        var raw = Raw()
        raw.bytes.reserveCapacity(blockByteCount + blockByteCount / 8)
        do throws(Problem) {
            while raw.bytes.count < blockByteCount {
                guard let (place, bytes) = try records.next() else {
                    raw.isLast = true
                    break
                }
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
    private static func parse(_ raw: Raw, _ parser: RecordParser) -> Parsed {
        var parsed = Parsed()
        parsed.records.reserveCapacity(raw.records.count)
        var names = JSONNames()
        do throws(Problem) {
            for (place, range) in raw.records {
                if let record = try parser.record(raw.bytes[range], place, &names) { parsed.records.append(record) }
            }
            parsed.problem = raw.problem
        } catch {
            parsed.problem = error
        }
        return parsed
    }
}
