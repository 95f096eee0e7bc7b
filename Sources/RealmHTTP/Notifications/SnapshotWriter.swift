// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The snapshot of one subscription.
///
/// Not Sendable: belongs to whoever writes it.
final class SnapshotWriter {
    private let name: String
    private let contents: ObservedContents
    private let rows: RowWriter
    private let definition: SubscriptionDefinition
    private let version: Version
    private let rowsOfPart: Int
    private let bytesOfPart: Int
    private let budget: WorkBudget
    /// Nil for a document of which this is a part, and which has time and amounts as a whole.
    private let secondsOfPart: Double?
    /// Rows that were written.
    private var position = 0
    private(set) var isFinished = false

    /// Nil where there is nothing to tell: of the whole realm, and of what is gone.
    init?(
        _ sub: ReadSubscription, _ contents: ObservedContents, _ version: Version, rowsOfPart: Int = .max,
        bytesOfPart: Int = .max, ofDocument whole: WorkBudget? = nil
    ) throws(Problem) {
        switch contents {
        case .realm, .gone: return nil
        default: break
        }
        name = sub.name
        self.contents = contents
        definition = sub.feed.definition
        budget = whole ?? sub.feed.newBudget()
        secondsOfPart = whole == nil ? sub.feed.secondsOfPart : nil
        rows = try RowWriter(version, sub.feed.definition, shape: sub.feed.shape, names: sub.feed.names, budget: budget)
        self.version = version
        self.rowsOfPart = rowsOfPart
        self.bytesOfPart = bytesOfPart
    }

    private var count: Int {
        switch contents {
        case .rows(_, let keys): return keys.count
        case .values(let count, _), .dictionary(let count): return count
        case .sections(_, let sections): return sections.reduce(0) { $0 + $1.rows.count }
        case .object, .realm, .gone: return 0
        }
    }

    /// Writes the next part.
    func writePart(to writer: inout JSONWriter) throws(Problem) {
        if let secondsOfPart {
            // Parts are asked for as they are read, so each has time and amounts of its own.
            budget.deadline = Instant.now().adding(seconds: secondsOfPart)
            budget.beginPart(at: writer.count)
        }
        writer.beginObject()
        writer.member("sub", text: name)
        writer.member("version", text: version.tokenText)
        if case .object = contents {
            if case .object(let object) = rows.shape { try rows.writeObject(object.key, to: &writer) }
            position = 0
            isFinished = true
        } else {
            let total = count
            writer.key("count")
            writer.integer(total, definition.representation)
            if definition.include == .none {
                position = total
            } else {
                let end = total - position <= rowsOfPart ? total : position + rowsOfPart
                position += try writeRows(position..<end, to: &writer)
            }
            isFinished = position == total
        }
        writer.member("last", bool: isFinished)
        writer.endObject()
    }

    /// Whether the part has as many bytes as it should.
    private func isFull(_ writer: JSONWriter) throws(Problem) -> Bool {
        try Problem.mapping { () throws(StorageError) in
            try budget.spend()
            try budget.requireRoom(for: writer.count)
        }
        return writer.count > bytesOfPart
    }

    /// Writes rows until the part is full; returns how many there are, at least one.
    private func writeRows(_ range: Range<Int>, to writer: inout JSONWriter) throws(Problem) -> Int {
        if case .sections(let table, let sections) = contents {
            return try writeSections(sections, of: table, range, to: &writer)
        }
        writer.key("items")
        writer.beginArray()
        var written = 0
        for index in range {
            if written > 0, try isFull(writer) { break }
            writer.beginObject()
            switch contents {
            case .rows(let table, let keys): try rows.writeObjectMembers(keys[index], of: table, to: &writer)
            case .values(_, let places): try rows.writeElementMembers(at: places?[index] ?? index, to: &writer)
            default: try rows.writeElementMembers(at: index, to: &writer)
            }
            writer.endObject()
            written += 1
        }
        writer.endArray()
        return written
    }

    /// A section that is cut goes on under its key in the next part.
    private func writeSections(
        _ sections: [(index: Int, key: SectionIdentity, rows: [ObjectKey])], of table: TableKey, _ range: Range<Int>,
        to writer: inout JSONWriter
    ) throws(Problem) -> Int {
        writer.key("sections")
        writer.beginArray()
        var start = 0
        var written = 0
        for section in sections {
            let part = range.clamped(to: start..<start + section.rows.count)
            if !part.isEmpty {
                if written > 0, try isFull(writer) { break }
                writer.beginObject()
                writer.key("key")
                section.key.write(definition.representation, to: &writer)
                writer.key("items")
                writer.beginArray()
                var isCut = false
                for index in part {
                    if index > part.lowerBound, try isFull(writer) {
                        isCut = true
                        break
                    }
                    writer.beginObject()
                    try rows.writeObjectMembers(section.rows[index - start], of: table, to: &writer)
                    writer.endObject()
                    written += 1
                }
                writer.endArray()
                writer.endObject()
                if isCut { break }
            }
            start += section.rows.count
        }
        writer.endArray()
        return written
    }
}
