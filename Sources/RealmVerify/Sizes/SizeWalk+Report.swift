// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The report of a walk.
extension SizeWalk {
    /// Returns what was counted.
    func report() -> SizeReport {
        var report = SizeReport(of: file)
        (report.version, report.logicalBytes, report.nodeCount) = (version, logicalBytes, nodeCount)
        (report.free, report.damage, report.damageCount) = (free, damage, damageCount)
        for table in tables {
            let reported = reported(table)
            if table.isHidden {
                report.parts.hiddenClasses += reported.bytes
            } else if table.name.hasPrefix(Table.classPrefix) {
                report.parts.classes += reported.bytes
                report.classes.append(reported)
            } else {
                report.parts.otherTables += reported.bytes
                report.otherTables.append(reported)
            }
        }
        report.largest = largest.places.compactMap { self.value(at: $0) }
        fill(&report)
        return report
    }

    /// Sets the parts that are not those of tables.
    private func fill(_ report: inout SizeReport) {
        let plain = UInt64(file.plainByteCount)
        report.parts.header = min(UInt64(FileHeader.byteCount), plain)
        report.parts.top = counts[Counter.top]
        report.parts.freeLists = counts[Counter.freeLists]
        report.parts.history = counts[Counter.history]
        report.parts.free = free?.bytes ?? 0
        let behind = report.fileBytes - plain
        if file.isEncrypted { report.parts.pageTables = behind }
        report.parts.tail = plain - (logicalBytes ?? plain) + (file.isEncrypted ? 0 : behind)
        report.parts.unaccounted = report.fileBytes - report.parts.total
        guard damageCount == 0, !FileHeader.convertedFormats.contains(file.header.fileFormat) else { return }
        let parts = report.parts
        report.compactedBytes = compactedBytes(
            of: parts.header + parts.top + parts.classes + parts.hiddenClasses + parts.otherTables)
    }

    /// Returns the size of a file that has some bytes in use and new lists of free space.
    private func compactedBytes(of used: UInt64) -> UInt64 {
        let lists = file.header.topRef.isNone ? 0 : 128
        let pageByteCount = EncryptionLayout.pageByteCount
        let pageCount = max(1, (Int(clamping: used) + lists + pageByteCount - 1) / pageByteCount)
        return UInt64(
            file.isEncrypted ? EncryptionLayout.fileByteCount(plainPageCount: pageCount) : pageCount * pageByteCount)
    }

    /// Returns the bytes of a table.
    private func reported(_ table: SizeTable) -> SizeReport.Table {
        let properties = table.columns.map { column in
            SizeReport.Property(
                name: column.name, values: counts[column.values],
                collections: counts[column.collections], index: counts[column.index],
                backlinks: counts[column.backlinks])
        }
        return SizeReport.Table(
            name: SizeWalk.reportedName(table), objectCount: table.objectCount, isComplete: table.isComplete,
            schema: counts[table.schema], keys: counts[table.keys],
            tombstones: counts[table.deleted], other: counts[table.other],
            properties: properties)
    }

    static func reportedName(_ table: SizeTable) -> String {
        table.name.dropping(prefix: Table.classPrefix).map { String($0) } ?? table.name
    }

    /// Returns a value by its names; nil for one of a hidden class.
    private func value(at place: LargestValues.Place) -> LargestValues.Value? {
        let table = tables[place.table]
        guard !table.isHidden else { return nil }
        return LargestValues.Value(
            table: SizeWalk.reportedName(table), property: table.columns[place.property].name, objectKey: place.key,
            primaryKey: primaryKey(of: place, table), bytes: place.bytes)
    }

    /// The length in bytes above which the text of a primary key is left out.
    private static let longestKey = 256

    /// Returns the primary key of an object; nil where there is none that can be read.
    private func primaryKey(of place: LargestValues.Place, _ table: SizeTable) -> DetachedValue? {
        guard let key = table.primaryKey, let leaf = place.leaf, let column = table.columns.first(where: { $0.key == key }),
            let type = ColumnType(rawValue: column.type), [.int, .string, .objectID, .uuid].contains(type), !column.isCollection
        else { return nil }
        do throws(StorageError) {
            let ref = try space.node(at: leaf).requiredRef(column.slot + 1, "primary key")
            let values = try ColumnLeaf(
                try space.node(at: ref), space, ElementShape(type: type, isNullable: column.isNullable), inCluster: true)
            guard place.row < values.count else { return nil }
            let value = try values.value(place.row)
            if case .string(let text) = value, text.count > SizeWalk.longestKey { return nil }
            return DetachedValue(value)
        } catch { return nil }
    }
}
