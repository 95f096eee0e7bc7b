// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Makes a file of format 24 of an old one.
struct LegacyConversion {
    /// The old file.
    private let file: LegacyFile
    /// The old file as links are read, whose decrypted pages are given back while those of values are in use.
    private let linkFile: LegacyFile
    /// The mapping of its tables.
    private let mapping: LegacyMapping
    /// The new file.
    private let target: LegacyTarget
    /// Gets the progress.
    private let control: WorkControl?
    /// The keys of new tables by the positions of old ones.
    private var targets: [TableKey?]
    /// The differences of the new file.
    private var report: ConversionReport
    /// The passes over all columns, and over all columns of links: in each of them every column is read once.
    private let columnPass: LegacyReading, linkPass: LegacyReading
    /// Which column of which class the hidden columns of new tables belong to.
    private var origins: [Origin: LegacyLinks] = [:]

    /// A property of the new file, as hidden columns name it.
    private struct Origin: Hashable {
        let table: TableKey
        let column: ColumnKey
    }

    /// Writes a new file.
    ///
    /// - Parameters:
    ///   - file: The old file.
    ///   - new: The new file, which is empty.
    ///   - key: The key of the new file; nil for a plain one.
    ///   - control: Gets the progress, and can cancel the conversion.
    static func run(
        _ file: LegacyFile, to new: NewFile, key: EncryptionKey?, _ control: WorkControl?
    ) throws(StorageError) -> ConversionReport {
        var conversion = try LegacyConversion(file, isEncrypted: key != nil, control) { () throws(StorageError) in
            try FileStore(new, key: key)
        }
        do throws(StorageError) {
            try conversion.makeSchema()
            try conversion.writeObjects()
            _ = try conversion.target.finish()
            return conversion.report
        } catch {
            conversion.target.abandon()
            throw error
        }
    }

    /// Makes the schema of the new file in memory.
    ///
    /// - Parameters:
    ///   - file: The old file.
    ///   - control: Can cancel the work.
    /// - Returns: A version without objects.
    static func schema(of file: LegacyFile, _ control: WorkControl?) throws(StorageError) -> Snapshot {
        var conversion = try LegacyConversion(file, isEncrypted: false, control) { () throws(StorageError) in
            try FileStore.inMemory()
        }
        do throws(StorageError) {
            try conversion.makeSchema()
            return try conversion.target.finish()
        } catch {
            conversion.target.abandon()
            throw error
        }
    }

    /// Maps the tables of an old file, and begins to write to the empty file that a closure opens.
    private init(
        _ file: LegacyFile, isEncrypted: Bool, _ control: WorkControl?, _ open: @escaping () throws(StorageError) -> FileStore
    ) throws(StorageError) {
        self.file = file
        linkFile = try file.withOwnPages()
        self.control = control
        mapping = try LegacyMapping(file, control)
        target = try LegacyTarget(isEncrypted: isEncrypted, oldByteCount: file.file.plainByteCount, control, open)
        targets = mapping.positions.map { _ in nil }
        report = mapping.report
        columnPass = LegacyReading(file.space)
        linkPass = LegacyReading(linkFile.space)
    }

    // MARK: - Schema

    /// Makes all tables and columns, and the indexes, which are empty.
    private mutating func makeSchema() throws(StorageError) {
        let prefix = String(decoding: LegacyTable.classPrefix, as: UTF8.self)
        for one in mapping.classes {
            try control?.check()
            targets[one.table.position] = try target.transaction.createTable(prefix + one.name)
        }
        for one in mapping.classes {
            guard let key = targets[one.table.position] else { continue }
            for (number, property) in one.properties.enumerated() {
                try control?.check()
                try makeColumn(property, one, in: key, isPrimaryKey: number == one.primaryKey)
            }
        }
        if file.table(named: "metadata") != nil { try target.transaction.setSchemaVersion(try file.schemaVersion()) }
    }

    /// Makes the column of a property, with its index.
    private mutating func makeColumn(
        _ property: LegacyProperty, _ one: LegacyMapping.Class, in key: TableKey, isPrimaryKey: Bool
    ) throws(StorageError) {
        let transaction = target.transaction
        let column = try transaction.addColumn(property.definition(targets), to: key)
        if property.target != nil {
            origins[Origin(table: key, column: column)] = LegacyLinks(
                file: linkFile, table: one.table, column: property.column, control: control)
        }
        if isPrimaryKey { try transaction.setPrimaryKey(column, of: key) }
        guard property.column.isIndexed || isPrimaryKey else { return }
        if property.isIndexable {
            try transaction.addIndex(.general, to: column, of: key)
        } else {
            report.note(.indexLeftOut, class: one.name, property: property.name, "a property of this type has no index today")
        }
    }

    // MARK: - Objects

    /// Writes the objects of all classes.
    private mutating func writeObjects() throws(StorageError) {
        let total = mapping.classes.reduce(0) { $0 + $1.table.rowCount }
        var done = 0
        for one in mapping.classes {
            let writer = try LegacyClassWriter(
                file, one, targets: targets, in: target, incoming: try incoming(of: one), columnPass)
            try writer.run { count in
                done += count
                control?.proceed(to: Double(done) / Double(max(1, total)))
            }
            note(one, writer)
        }
    }

    /// Returns the links to the objects of a class, for each hidden column of its new table.
    private func incoming(of one: LegacyMapping.Class) throws(StorageError) -> [IncomingLinks?] {
        guard let key = targets[one.table.position] else { return [] }
        let hidden = try target.transaction.table(key).backlinks
        var incoming: [IncomingLinks?] = []
        for column in hidden {
            guard let table = column.targetTable, let opposite = column.oppositeColumn,
                let links = origins[Origin(table: table, column: opposite)]
            else {
                incoming.append(nil)
                continue
            }
            let found = try IncomingLinks(links, targetCount: one.table.rowCount, linkPass)
            incoming.append(found.count > 0 ? found : nil)
        }
        IncomingLinks.divide(incoming.compactMap(\.self), fileByteCount: file.file.plainByteCount)
        return incoming
    }

    /// Adds a class to the report, and what its objects lost.
    private mutating func note(_ one: LegacyMapping.Class, _ writer: LegacyClassWriter) {
        report.classes.append(
            ConversionReport.Class(name: one.name, objectCount: one.table.rowCount, propertyCount: one.properties.count))
        for (index, property) in one.properties.enumerated() {
            let dangling = writer.danglingCounts[index], unusual = writer.unusualTextCounts[index]
            if dangling > 0 {
                report.note(
                    .linksLeftOut, class: one.name, property: property.name, count: dangling, "links to rows that do not exist")
            }
            if unusual > 0 {
                report.note(
                    .textNotUTF8, class: one.name, property: property.name, count: unusual,
                    "texts that are not UTF-8; their bytes are kept")
            }
        }
        if writer.mixedTableCount > 0 {
            report.note(
                .mixedTableLeftOut, class: one.name, count: writer.mixedTableCount, "tables inside of mixed values are null")
        }
    }
}

/// Conversion of old files.
extension LegacyFile {
    /// Returns the schema that the file has in format 24, without writing any object. Of the values only primary keys are read.
    ///
    /// - Parameter control: Can cancel the work.
    /// - Returns: A version without objects, which is in memory only.
    /// - Throws: `.corrupt` when the old file is damaged, or is written to meanwhile; `.limit` for contents that format 24 cannot hold.
    package func schema(_ control: WorkControl? = nil) throws(StorageError) -> Snapshot {
        try LegacyConversion.schema(of: self, control)
    }

    /// Writes the file in format 24 to a new file that no other program has open.
    ///
    /// Row n of a table becomes the object with key n. Memory does not grow with the file, but with its largest value.
    ///
    /// - Parameters:
    ///   - new: The new file, which is empty. After an error it is of no use.
    ///   - key: The key of the new file; nil for a plain one.
    ///   - control: Gets the progress, and can cancel the conversion.
    /// - Returns: The mapping, and the data that could not be mapped.
    /// - Throws: `.corrupt` when the old file is damaged, `.refused(.fileChanged)` when it has changed meanwhile, `.limit` for
    ///   contents that format 24 cannot hold, `.io` when the disk is full.
    package func convert(
        to new: NewFile, key: EncryptionKey? = nil, _ control: WorkControl? = nil
    ) throws(StorageError) -> ConversionReport {
        let report = try LegacyConversion.run(self, to: new, key: key, control)
        try file.witness?.checkFile()
        return report
    }

    /// Writes the file in format 24 to a path. No reader ever sees a part of it: it gets its name when it is complete.
    ///
    /// - Parameters:
    ///   - key: The key of the new file; nil for a plain one.
    ///   - replacing: Whether an existing file may be replaced; otherwise there must be none.
    ///   - control: Gets the progress, and can cancel the conversion.
    /// - Returns: The mapping, and the data that could not be mapped.
    package func convert(
        toFile path: String, key: EncryptionKey? = nil, replacing: Bool = false, _ control: WorkControl? = nil
    ) throws(StorageError) -> ConversionReport {
        let path = try System.resolved(path)
        guard replacing || System.entry(atPath: path, followsLink: false) == nil else {
            throw .refused(.unsuitable("a file of that name exists"))
        }
        let new = try NewFile(nextTo: path)
        if replacing { System.copyPermissions(of: path, to: new.descriptor) }
        let report = try convert(to: new, key: key, control)
        guard replacing else {
            try new.publish(as: path)
            return report
        }
        // Syncing the new file has taken its time, in which another program may have written to the old one.
        try new.replace(path) { () throws(StorageError) in try file.witness?.checkFile() }
        return report
    }
}
