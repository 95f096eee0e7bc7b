// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A file of formats 2 to 9, open for reading.
///
/// Opening reads the schema and counts rows; values are read by `convert` and `verify`. The file is never changed, and no lock
/// file is made next to it.
///
/// Source: docs/format.md, "Formats 2 to 9".
package final class LegacyFile: Sendable {
    package let file: RealmFile
    /// All tables in the order of their positions: classes and those of the SDK.
    package let tables: [LegacyTable]
    /// The top node; nil in a file in which nothing was ever written.
    package let top: TopNode?
    let space: NodeSpace
    /// Values that were joined, which the space borrows.
    private let joinedValues = JoinedValues()

    package var format: Int { file.header.fileFormat }

    /// Whether a file of this format is one that is opened here.
    package static func reads(format: Int) -> Bool { FileHeader.convertedFormats.contains(format) }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - key: Its 64-byte key, if it is encrypted.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    ///   - countsRows: Whether rows are counted, for which the leaves of a column are visited. Otherwise tables have as many rows as
    ///     the root of a column states, which is enough to describe a file.
    /// - Throws: `.refused` when there is no such file, it is not a Realm file, has another format, was left in the middle of an
    ///   upgrade, or the key does not fit; `.corrupt` when the schema contradicts itself.
    package convenience init(
        path: String, key: EncryptionKey? = nil, isExact: Bool = false, countsRows: Bool = true
    ) throws(StorageError) {
        let file = try RealmFile(path: path, key: key, isExact: isExact, accepting: FileHeader.convertedFormats)
        try self.init(file, countsRows: countsRows)
    }

    /// Reads the schema of an open file of these formats.
    package init(_ file: RealmFile, countsRows: Bool) throws(StorageError) {
        self.file = file
        let format = file.header.fileFormat
        let whole = file.space(limit: UInt64(file.plainByteCount), joinedValues: joinedValues)
        guard !file.header.topRef.isNone else {
            (top, tables, space) = (nil, [], whole)
            return
        }
        let top = try TopNode.read(file.header.topRef, whole)
        guard LegacyFile.topSlotCounts.contains(top.slotCount) else {
            throw .corrupt(ref: top.ref, reason: "a top node of format \(format) cannot have \(top.slotCount) slots")
        }
        self.top = top
        space = file.space(limit: top.logicalSize, joinedValues: joinedValues)
        tables = try LegacyFile.tables(top, LegacyReading(space), format, countsRows: countsRows)
    }

    /// Makes the same file with other decrypted pages.
    private init(_ other: LegacyFile, _ file: RealmFile) {
        self.file = file
        (top, tables) = (other.top, other.tables)
        space = file.space(limit: other.space.limit, joinedValues: joinedValues)
    }

    /// Returns the same file with decrypted pages of its own; a plain file has none.
    func withOwnPages() throws(StorageError) -> LegacyFile {
        file.isEncrypted ? LegacyFile(self, try file.withOwnPages()) : self
    }

    /// Opens a file that may be of these formats.
    ///
    /// - Parameters:
    ///   - key: Its 64-byte key, if it is encrypted.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    ///   - countsRows: As in `init`.
    /// - Returns: The file; nil for one that is not of these formats or cannot be opened, about which other readers say more.
    /// - Throws: `.refused` for a file that was left in the middle of an upgrade; `.corrupt` when the schema contradicts itself.
    package static func open(
        path: String, key: EncryptionKey? = nil, isExact: Bool = false, countsRows: Bool = true
    ) throws(StorageError) -> LegacyFile? {
        let file: RealmFile
        do throws(StorageError) {
            file = try RealmFile(path: path, key: key, isExact: isExact, accepting: FileHeader.convertedFormats)
        } catch {
            return nil
        }
        return try LegacyFile(file, countsRows: countsRows)
    }

    /// How many slots top nodes of these formats have.
    private static let topSlotCounts: Set<Int> = [3, 5, 7, 9, 10]
    /// The greatest number of tables, of which format 24 can have one more.
    private static let maximumTableCount = 65_535

    /// Reads the schema of all tables, and how many rows they have.
    private static func tables(
        _ top: TopNode, _ reading: LegacyReading, _ format: Int, countsRows: Bool
    ) throws(StorageError) -> [LegacyTable] {
        let names = try reading.names(at: top.names)
        let list = try reading.refs(at: top.tables, "tables")
        guard list.count == names.count else { throw list.corrupt("\(names.count) table names for \(list.count) tables") }
        guard names.count <= maximumTableCount else {
            throw list.corrupt("\(names.count) tables; at most \(maximumTableCount) are possible")
        }
        if names.contains(Array("!UPDATE_PROGRESS".utf8)) { throw interrupted(format) }
        // Counting rows may give back the pages that the list is in.
        var refs: [Ref] = []
        for position in names.indices { refs.append(try list.requiredRef(position, "table")) }
        var tables: [LegacyTable] = []
        for ((position, name), ref) in zip(names.enumerated(), refs) {
            tables.append(
                try LegacyTable(at: ref, position: position, name: name, reading, fileFormat: format, countsRows: countsRows))
        }
        return tables
    }

    /// The error for a file that was left in the middle of an upgrade.
    static func interrupted(_ format: Int) -> StorageError {
        .refused(
            .formatUnsupported(
                found: format,
                reason:
                    "the upgrade of this file was interrupted; open it once with the app that started it, or use the backup "
                    + "next to it, whose name ends with .v\(format).backup.realm"))
    }

    /// Returns how many bytes of the file are in use; throws `.corrupt` when the list of free blocks cannot be read.
    package func usedByteCount() throws(StorageError) -> Int {
        try top?.usedByteCount(in: space) ?? min(FileHeader.byteCount, file.plainByteCount)
    }

    /// Returns a table by its name; nil when there is none.
    func table(named name: String) -> LegacyTable? { tables.first { $0.name.elementsEqual(name.utf8) } }

    /// The number of tables that become classes.
    package var classCount: Int { tables.count { $0.className != nil } }
    /// Whether no class has any object.
    package var isEmpty: Bool { tables.allSatisfy { $0.className == nil || $0.rowCount == 0 } }
}
