// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes the snapshot of one subscription: all its rows at one version, in one or more parts.
///
/// A stream sends parts of limited size, each with its own time limit, since parts are written as the client reads. A poll writes
/// the snapshot as one part within the budget of its response. One thread at a time uses it.
final class SnapshotWriter {
    /// The name of the subscription whose snapshot is written.
    private let name: String
    /// The keys of the rows at the version, or their places in the collection.
    private let contents: ObservedContents
    /// Writes single rows of the snapshot.
    private let rows: RowWriter
    /// The subscription of the snapshot, which decides which parts of a row are written.
    private let definition: SubscriptionDefinition
    /// The version that the snapshot shows.
    private let version: Version
    /// The maximum number of rows of one part of the snapshot.
    private let rowsOfPart: Int
    /// The number of bytes after which a part of the snapshot ends.
    private let bytesOfPart: Int
    /// The budget of the snapshot in time and bytes.
    private let budget: WorkBudget
    /// The seconds that one part may take; nil when the snapshot is part of a document whose budget covers it.
    private let secondsPerPart: Double?
    /// The number of rows of the snapshot that were written.
    private var position = 0
    /// Whether the last part of the snapshot was written.
    private(set) var isFinished = false

    /// Makes a writer for a snapshot.
    ///
    /// - Parameters:
    ///   - rowsOfPart: The maximum number of rows of a part.
    ///   - bytesOfPart: The number of bytes after which a part ends.
    ///   - whole: The budget of the document that the snapshot belongs to; nil for a stream, where
    ///     each part has its own.
    /// - Returns: nil where there is nothing to show: for a whole realm, and for an object or
    ///   collection that was deleted.
    /// - Throws: The problem when the rows cannot be read.
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
        secondsPerPart = whole == nil ? sub.feed.secondsPerPart : nil
        rows = try RowWriter(version, sub.feed.definition, shape: sub.feed.shape, names: sub.feed.names, budget: budget)
        self.version = version
        self.rowsOfPart = rowsOfPart
        self.bytesOfPart = bytesOfPart
    }

    /// The number of rows of the snapshot.
    private var count: Int {
        switch contents {
        case .rows(_, let keys): return keys.count
        case .values(let count, _), .dictionary(let count): return count
        case .sections(_, let sections): return sections.reduce(0) { $0 + $1.rows.count }
        case .object, .realm, .gone: return 0
        }
    }

    /// Writes the next part as a JSON object. The member `last` states whether it is the last one.
    ///
    /// - Parameter writer: The writer, at a place where a value may follow.
    /// - Throws: The problem when a row cannot be read, or when the part costs more than the budget
    ///   allows.
    func writePart(to writer: inout JSONWriter) throws(Problem) {
        if let secondsPerPart {
            // Parts are written as the client reads them, so each has its own time limit and byte limit.
            budget.deadline = Instant.now().adding(seconds: secondsPerPart)
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

    /// Whether the part has reached its number of bytes. Charges one row to the budget.
    private func isFull(_ writer: JSONWriter) throws(Problem) -> Bool {
        try Problem.mapping { () throws(StorageError) in
            try budget.spend()
            try budget.requireRoom(for: writer.count)
        }
        return writer.count > bytesOfPart
    }

    /// Writes rows until the part is full.
    ///
    /// - Parameters:
    ///   - range: The rows that the part may have.
    ///   - writer: The writer, inside of the object of the part.
    /// - Returns: The number of rows that were written, at least one.
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

    /// Writes the rows of a range in their sections, until the part is full. A section that is cut
    /// continues under its key in the next part.
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
