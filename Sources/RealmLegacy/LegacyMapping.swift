// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Decides what the tables of an old file become.
///
/// Source: docs/format.md, "Formats 2 to 9".
struct LegacyMapping {
    /// The old file.
    private let file: LegacyFile
    /// Can cancel the work.
    private let control: WorkControl?
    /// The classes, in the order of the old tables.
    private(set) var classes: [LegacyMapping.Class] = []
    /// The data that could not be carried over so far.
    private(set) var report: ConversionReport
    /// The position in `classes` of the class that each table becomes; nil for the others.
    private(set) var positions: [Int?]

    /// The position in `classes` of each class by the bytes of its name.
    private var numbers: [[UInt8]: Int] = [:]
    /// The position in `classes` of each class by its name in the old file; of the first one where several have it.
    private var oldNumbers: [[UInt8]: Int] = [:]
    /// The number of each property by the bytes of its column's name, for classes whose primary keys were looked up.
    private var propertyNumbers: [Int: [[UInt8]: Int]] = [:]

    /// The greatest number of entries of the list of primary keys that are looked at: no file has more classes.
    private static let maximumKeyCount = 65_536
    /// The name of a hidden column of synchronized files.
    private static let objectID = Array("!OID".utf8)
    /// Tables of the SDK that are not left out, but become something else.
    private static let known = ["metadata", "pk"].map { Array($0.utf8) }

    /// Maps the tables of a file; values are read only to find out whether primary keys are unique.
    init(_ file: LegacyFile, _ control: WorkControl?) throws(StorageError) {
        self.file = file
        self.control = control
        report = ConversionReport(fromFormat: file.format)
        positions = Array(repeating: nil, count: file.tables.count)
        if let top = file.top { report.noteHistory(of: top) }
        for table in file.tables where table.className != nil {
            try control?.check()
            addClass(table)
        }
        for table in file.tables where table.className == nil && !LegacyMapping.known.contains(table.name) {
            let name = String(decoding: table.name, as: UTF8.self)
            report.note(
                .tableLeftOut, count: table.rowCount,
                "the table '\(name)' is not a class; its \(table.rowCount) rows are left out")
        }
        for index in classes.indices {
            try control?.check()
            addProperties(index)
        }
        try checkWidths()
        try findPrimaryKeys()
    }

    // MARK: - Names

    /// Adds a class without properties.
    private mutating func addClass(_ table: LegacyTable) {
        let bytes = Array(table.className ?? [])
        var name = String(decoding: bytes, as: UTF8.self)
        if !name.utf8.elementsEqual(bytes) || numbers[Array(name.utf8)] != nil {
            name = LegacyMapping.freeName(name, table.position, LegacyTable.classPrefix.count) { numbers[Array($0.utf8)] != nil }
            report.note(.renamed, class: name, "the name of the table is no UTF-8, or another one has it")
        }
        positions[table.position] = classes.count
        if oldNumbers[bytes] == nil { oldNumbers[bytes] = classes.count }
        numbers[Array(name.utf8)] = classes.count
        classes.append(LegacyMapping.Class(table: table, name: name, properties: []))
    }

    /// Returns a name with something added at its end, and as much left out before that as makes it fit.
    private static func shortened(_ name: String, end: String, _ reserved: Int) -> String {
        var name = name
        while name.utf8.count + end.utf8.count + reserved > WriteTransaction.maximumNameByteCount {
            name.unicodeScalars.removeLast()
        }
        return name + end
    }

    /// Returns a name with a number at its end that is not taken. Numbers go upwards behind that one, so there is an end: a name that
    /// was shortened may be the same as before.
    ///
    /// - Parameters:
    ///   - name: The name that cannot be used.
    ///   - number: The number of the column or table.
    ///   - reserved: How many bytes a prefix takes.
    ///   - isTaken: Whether something has a name.
    static func freeName(_ name: String, _ number: Int, _ reserved: Int = 0, isTaken: (String) -> Bool) -> String {
        var free = shortened(name, end: "_\(number)", reserved)
        var attempt = 2
        while isTaken(free) {
            free = shortened(name, end: "_\(number)_\(attempt)", reserved)
            attempt += 1
        }
        return free
    }

    /// Returns the name of each public column as the engine's own upgrade would change it: none is empty or there twice.
    private mutating func names(of table: LegacyTable, _ className: String) -> [String] {
        var taken: Set<[UInt8]> = []
        return table.spec.publicColumns.map { column in
            var name = String(decoding: column.name, as: UTF8.self)
            if column.name.isEmpty { name = "col_\(column.index)" }
            if taken.contains(Array(name.utf8)) || name.utf8.count > WriteTransaction.maximumNameByteCount {
                name = LegacyMapping.freeName(name, column.index) { taken.contains(Array($0.utf8)) }
            }
            taken.insert(Array(name.utf8))
            if !name.utf8.elementsEqual(column.name) {
                report.note(
                    .renamed, class: className, property: name,
                    "column \(column.index) had no name, one that is taken, or one that is no UTF-8")
            }
            return name
        }
    }

    // MARK: - Properties

    /// Adds the properties of a class.
    private mutating func addProperties(_ index: Int) {
        let (table, className) = (classes[index].table, classes[index].name)
        let names = names(of: table, className)
        for (column, name) in zip(table.spec.publicColumns, names) where column.name != LegacyMapping.objectID {
            guard let kind = kind(of: column) else {
                report.note(.propertyLeftOut, class: className, property: name, hindrance(to: column))
                continue
            }
            classes[index].properties.append(LegacyProperty(column: column, name: name, kind: kind))
            if column.type == .oldDate {
                report.note(.oldDates, class: className, property: name, count: table.rowCount, "dates of whole seconds")
            }
        }
    }

    /// Throws `.corrupt` for a class to which so many columns link that its new table has no room for their hidden ones.
    private func checkWidths() throws(StorageError) {
        var counts = classes.map(\.properties.count)
        for one in classes {
            for property in one.properties {
                guard let target = property.target, let position = positions[target] else { continue }
                counts[position] += 1
            }
        }
        guard let index = counts.firstIndex(where: { $0 > LegacySpec.maximumColumnCount }) else { return }
        throw .corrupt(
            ref: .none,
            reason: "class '\(classes[index].name)' needs \(counts[index]) columns, with those for incoming links; at most "
                + "\(LegacySpec.maximumColumnCount) are possible")
    }

    /// Returns what the values of a column become; nil for what has no equivalent.
    private func kind(of column: LegacyColumn) -> LegacyProperty.Kind? {
        if let type = LegacyProperty.valueType(column.type) { return .value(type) }
        switch column.type {
        case .table:
            guard let columns = column.subspec?.columns, columns.count == 1, let type = LegacyProperty.valueType(columns[0].type)
            else {
                return nil
            }
            return .list(type, of: columns[0])
        case .link, .linkList:
            guard let target = column.target, positions.indices.contains(target), positions[target] != nil else { return nil }
            return column.type == .link ? .link(target) : .linkList(target)
        default: return nil
        }
    }

    /// Returns why the values of a column become nothing.
    private func hindrance(to column: LegacyColumn) -> String {
        switch column.type {
        case .link, .linkList:
            guard let target = column.target, file.tables.indices.contains(target) else {
                return "links to a table that the file does not have"
            }
            return "links to the table '\(String(decoding: file.tables[target].name, as: UTF8.self))', which is not a class"
        case .table:
            let columns = column.subspec?.columns ?? []
            guard columns.count == 1 else {
                return "tables of \(columns.count) columns inside of rows have no equivalent: those of one column become lists"
            }
            return "tables of values of type '\(columns[0].type)' inside of rows have no equivalent"
        default: return "a property of type '\(column.type)' has no equivalent"
        }
    }

    // MARK: - Primary keys

    /// Reads which properties are primary keys, and drops those that the objects do not allow.
    private mutating func findPrimaryKeys() throws(StorageError) {
        guard let table = file.table(named: "pk"), table.rowCount > 0 else { return }
        guard table.spec.publicCount >= 2 else {
            return report.note(.entryIgnored, "the table of primary keys has fewer than two columns")
        }
        let reading = LegacyReading(file.space)
        guard var classNames = try file.values(of: table.spec.columns[0], table, reading),
            var properties = try file.values(of: table.spec.columns[1], table, reading)
        else { return report.note(.entryIgnored, "the table of primary keys has columns of other types") }
        var done = 0
        while done < min(table.rowCount, LegacyMapping.maximumKeyCount) {
            var names: [Value?] = [], keys: [Value?] = []
            try classNames.read(256, into: &names)
            try properties.read(256, into: &keys)
            guard names.count == keys.count, !names.isEmpty else { throw table.uneven(table.spec.columns[1]) }
            for (name, key) in zip(names, keys) {
                try control?.check()
                let byteCount = (name?.byteCount ?? 0) + (key?.byteCount ?? 0)
                try reading.budget?.spend(textOf: byteCount, in: table.root(of: table.spec.columns[0]) ?? .none)
                addPrimaryKey(name ?? .null, key ?? .null)
            }
            done += names.count
            reading.keeper.release()
            guard reading.relieve() else { continue }
            try classNames.renew()
            try properties.renew()
        }
        if done < table.rowCount {
            report.note(
                .primaryKeyLeftOut, count: table.rowCount - done,
                "the list of primary keys has \(table.rowCount) entries, of which only the first \(done) are looked at")
        }
        let pass = LegacyReading(file.space)
        for index in classes.indices { try checkPrimaryKey(index, pass) }
    }

    /// Makes a property the primary key of its class, as one entry of the list says.
    private mutating func addPrimaryKey(_ className: Value, _ property: Value) {
        guard case .string(var name) = className else {
            if !className.isNull { report.note(.entryIgnored, "an entry of the list of primary keys names no class") }
            return
        }
        // Names have the prefix of tables or not, and that of a class may begin with it.
        var known = oldNumbers[name.array]
        if known == nil, name.array.starts(with: LegacyTable.classPrefix) {
            name = name.suffix(from: LegacyTable.classPrefix.count)
            known = oldNumbers[name.array]
        }
        guard let index = known else {
            return report.note(.entryIgnored, "a primary key is stated for a class that does not exist")
        }
        let found = number(of: property, index)
        guard let found else {
            return report.note(.entryIgnored, class: classes[index].name, "a primary key is stated that is not a property")
        }
        guard [.int, .string, .enumerated].contains(classes[index].properties[found].column.type) else {
            return report.note(
                .primaryKeyLeftOut, class: classes[index].name, property: classes[index].properties[found].name,
                "a primary key is a string or an integer")
        }
        classes[index].primaryKey = found
    }

    /// Returns the number of the property that an entry of the list of primary keys names; nil for none.
    private mutating func number(of property: Value, _ index: Int) -> Int? {
        switch property {
        case .int(let number): return LegacyMapping.number(ofColumn: number, in: classes[index].properties)
        case .string(let text):
            let known =
                propertyNumbers[index]
                ?? Dictionary(
                    classes[index].properties.enumerated().map { ($1.column.name, $0) }, uniquingKeysWith: { first, _ in first })
            propertyNumbers[index] = known
            return known[text.array]
        default: return nil
        }
    }

    /// Returns the number of the property of a column; nil for none. Properties are in the order of their columns.
    private static func number(ofColumn column: Int64, in properties: [LegacyProperty]) -> Int? {
        var (low, high) = (0, properties.count)
        while low < high {
            let middle = (low + high) / 2
            if Int64(properties[middle].column.index) < column { low = middle + 1 } else { high = middle }
        }
        return low < properties.count && Int64(properties[low].column.index) == column ? low : nil
    }

    /// Drops the primary key of a class where two objects have the same.
    private mutating func checkPrimaryKey(_ index: Int, _ pass: LegacyReading) throws(StorageError) {
        guard let number = classes[index].primaryKey else { return }
        let (table, property) = (classes[index].table, classes[index].properties[number])
        let count = try DuplicateSearch(file, table, of: property.column, pass, control: control).duplicateCount()
        guard count > 0 else { return }
        classes[index].primaryKey = nil
        report.note(
            .primaryKeyLeftOut, class: classes[index].name, property: property.name, count: count,
            "objects have the same primary key as another one, so the class has none")
    }
}

/// Access to the columns of old tables.
extension LegacyFile {
    /// Returns the source of a column's values; nil for a column of tables, lists of links or backlinks, and in a table without trees.
    func values(of column: LegacyColumn, _ table: LegacyTable, _ reading: LegacyReading) throws(StorageError) -> (
        any LegacySource
    )? {
        guard let root = table.root(of: column), ![.table, .linkList, .backlink].contains(column.type) else { return nil }
        return try reading.values(of: column, at: root)
    }

    /// The schema version; nil when the file has none.
    package func schemaVersion() throws(StorageError) -> UInt64? {
        guard let table = table(named: "metadata"), table.rowCount > 0,
            let column = table.spec.publicColumns.first(where: { $0.type == .int && $0.name.elementsEqual("version".utf8) }),
            var source = try values(of: column, table, LegacyReading(space))
        else { return nil }
        var values: [Value?] = []
        try source.read(1, into: &values)
        guard case .int(let version)?? = values.first, version != -1 else { return nil }
        return UInt64(bitPattern: version)
    }
}

/// Errors about columns.
extension LegacyTable {
    /// Makes the error for a column that has another number of values than the first.
    func uneven(_ column: LegacyColumn) -> StorageError {
        .corrupt(
            ref: root(of: column) ?? .none,
            reason: "column \(column.index) of table \(position) has another number of values than the \(rowCount) rows")
    }
}

extension LegacyMapping {
    /// An old table as the class that it becomes.
    struct Class {
        let table: LegacyTable
        /// The name of the class, without prefix.
        let name: String
        /// The properties in the order of the columns.
        var properties: [LegacyProperty]
        /// The number of the primary key among the properties; nil for none.
        var primaryKey: Int?
    }
}
