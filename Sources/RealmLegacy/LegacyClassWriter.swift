// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes the objects of one class from the rows of its table.
///
/// Columns are read some thousand rows at a time, then the rows are written together: values, lists and backlinks, so no node has to be
/// written again later.
final class LegacyClassWriter {
    /// The old file.
    private let file: LegacyFile
    private let one: LegacyMapping.Class
    private let key: TableKey
    /// The new file.
    private let target: LegacyTarget
    /// The keys of new tables by the positions of old ones.
    private let targets: [TableKey?]
    /// The pass over the columns of all classes.
    private let reading: LegacyReading
    /// The same pass for one list at a time: the present rows still use the values that `reading` keeps.
    private let listReading: LegacyReading
    /// How many tables inside of mixed values other classes had.
    private let formerTableCount: Int
    /// The sources of the values of each property.
    private var sources: [Source]
    /// The links to the objects, for each hidden column of the new table.
    private let incoming: [IncomingLinks?]
    /// The present rows: a list for each property and each hidden column.
    private var columns: [[Value?]]
    /// How many links of each property lead nowhere.
    private(set) var danglingCounts: [Int]
    /// How many texts of each property are not UTF-8.
    private(set) var unusualTextCounts: [Int]
    /// The positions in `columns` of those that have an index.
    private let indexed: [Int]

    /// Where values come from.
    private enum Source {
        /// A column of values.
        case values(any LegacySource)
        /// A column of lists, and the lists of the present rows. Indirect, as there may be thousands of the other case, which is small.
        indirect case lists(LegacyRefs, [UInt64])
    }

    /// How many values are read at a time, and how many rows at most.
    private static let valuesPerStep = 1 << 18, rowsPerStep = 8192
    /// How many leaves are read at a time where columns are so many that a leaf has fewer than `greatestRowsPerLeaf` objects.
    private static let leavesPerStep = 4
    private static let greatestRowsPerLeaf = 256
    /// How many elements take as much time as writing the leaf of one column, or as adding values of one column to its index, about.
    private static let elementsPerLeaf = 24
    /// How many elements take as much time as changing a level of an index, about. It covers some bytes of a text, and takes
    /// others.
    private static let elementsPerLevel = 3, textBytesPerLevel = 4, bytesPerLevel = 88
    /// How many bytes of texts and binaries are written at a time.
    private static let bytesPerRun = 4 << 20

    /// Makes a writer in front of the first row.
    ///
    /// - Parameters:
    ///   - file: The old file.
    ///   - targets: The keys of new tables by the positions of old ones.
    ///   - incoming: The links to the objects, for each hidden column of the new table.
    ///   - reading: The pass over the columns of all classes.
    init(
        _ file: LegacyFile, _ one: LegacyMapping.Class, targets: [TableKey?], in target: LegacyTarget, incoming: [IncomingLinks?],
        _ reading: LegacyReading
    ) throws(StorageError) {
        self.file = file
        self.one = one
        self.target = target
        self.targets = targets
        self.incoming = incoming
        key = targets[one.table.position] ?? .null
        self.reading = reading
        listReading = reading.nested
        formerTableCount = reading.keeper.tableCount
        columns = Array(repeating: [], count: one.properties.count + incoming.count)
        danglingCounts = Array(repeating: 0, count: one.properties.count)
        unusualTextCounts = danglingCounts
        indexed = one.properties.indices.filter { index in
            one.properties[index].isIndexable && (one.properties[index].column.isIndexed || index == one.primaryKey)
        }
        sources = []
        for property in one.properties {
            // A table that never had a row may have no trees.
            guard let root = one.table.root(of: property.column) else { continue }
            switch property.kind {
            case .list, .linkList: sources.append(.lists(LegacyRefs(root, reading), []))
            case .value, .link: sources.append(.values(try reading.values(of: property.column, at: root)))
            }
        }
    }

    /// How many tables inside of mixed values were read as null.
    var mixedTableCount: Int { reading.keeper.tableCount - formerTableCount }

    /// Writes all objects.
    ///
    /// - Parameter proceed: Called with the number of rows that were written since the last call.
    func run(_ proceed: (Int) -> Void) throws(StorageError) {
        let rowCount = one.table.rowCount
        guard rowCount <= Int(UInt32.max) else { throw .limit("a table of \(rowCount) rows") }
        try spend(rowCount)
        let greatest = LegacyClassWriter.greatestStep(columns.count)
        var step = file.file.isEncrypted ? min(greatest, LegacyReading.firstStep) : greatest
        var done = 0
        while done < rowCount {
            let before = reading.space.decryptedByteCount
            let count = try readBatch(min(step, rowCount - done))
            try write(count, from: done)
            reading.keeper.release()
            step = reading.step(after: count, greatest, since: before)
            try relieve()
            done += count
            proceed(count)
            try target.checkpoint()
        }
        try requireEnd()
    }

    /// Counts what reading the columns does not count: the values of columns for incoming links, which are made anew, and the new leaves,
    /// of which very many columns have many.
    private func spend(_ rowCount: Int) throws(StorageError) {
        let leafCount =
            (rowCount + LegacyClassWriter.rowsPerLeaf(columns.count) - 1) / LegacyClassWriter.rowsPerLeaf(columns.count)
        let count = rowCount * incoming.count + leafCount * columns.count * LegacyClassWriter.elementsPerLeaf
        try reading.budget?.spend(elements: count, at: one.properties.first.flatMap { one.table.root(of: $0.column) } ?? .none)
    }

    /// Returns how many objects of some columns a leaf has: fewer where columns are very many, because a leaf is in memory as a whole
    /// when it is written. A short text takes at most 64 bytes of it.
    static func rowsPerLeaf(_ columnCount: Int) -> Int {
        max(1, min(greatestRowsPerLeaf, valuesPerStep / max(1, columnCount)))
    }

    /// Returns how many rows of some columns are read at a time at most: those of whole leaves.
    private static func greatestStep(_ columnCount: Int) -> Int {
        let leafSize = rowsPerLeaf(columnCount)
        guard leafSize == greatestRowsPerLeaf else { return leafSize * leavesPerStep }
        return min(valuesPerStep / max(1, columnCount), rowsPerStep) / leafSize * leafSize
    }

    /// Gives back the memory of decrypted pages when it is much.
    private func relieve() throws(StorageError) {
        guard reading.relieve() else { return }
        for index in sources.indices {
            switch sources[index] {
            case .values(var source):
                try source.renew()
                sources[index] = .values(source)
            case .lists(let source, _): try source.renew()
            }
        }
    }

    // MARK: - Reading

    /// Reads the values of the next rows: fewer than are wanted where many bytes have to be kept, but one at least.
    ///
    /// - Returns: How many rows were read.
    private func readBatch(_ wanted: Int) throws(StorageError) -> Int {
        let former = (sources, danglingCounts)
        var count = wanted
        while try !reading.fits(count, { () throws(StorageError) in try read(count) }) {
            (sources, danglingCounts) = former
            count /= 2
        }
        return count
    }

    /// Reads the values of the next rows.
    private func read(_ count: Int) throws(StorageError) {
        for index in columns.indices { columns[index].removeAll(keepingCapacity: true) }
        for index in sources.indices {
            try target.control?.check()
            let found: Int
            switch sources[index] {
            case .values(var source):
                try source.read(count, into: &columns[index])
                found = columns[index].count
                sources[index] = .values(source)
                translate(index)
            case .lists(var source, var refs):
                refs.removeAll(keepingCapacity: true)
                try source.read(count, into: &refs)
                found = refs.count
                sources[index] = .lists(source, refs)
            }
            guard found == count else { throw one.table.uneven(one.properties[index].column) }
        }
    }

    /// Throws `.corrupt` when a column has more values than the table has rows.
    private func requireEnd() throws(StorageError) {
        for index in sources.indices {
            var rest = 0
            switch sources[index] {
            case .values(var source):
                var values: [Value?] = []
                try source.read(1, into: &values)
                rest = values.count
            case .lists(var source, _):
                var refs: [UInt64] = []
                try source.read(1, into: &refs)
                rest = refs.count
            }
            guard rest == 0 else { throw one.table.uneven(one.properties[index].column) }
        }
    }

    /// Makes links of the row numbers in a column.
    private func translate(_ index: Int) {
        guard case .link(let position) = one.properties[index].kind, let table = targets[position] else { return }
        let limit = file.tables[position].rowCount
        for row in columns[index].indices {
            guard case .int(let number)? = columns[index][row] else { continue }
            let exists = number >= 0 && number < limit
            if !exists { danglingCounts[index] += 1 }
            columns[index][row] = exists ? .link(table, ObjectKey(number)) : .null
        }
    }

    /// Counts a text that is not UTF-8. It is looked at right before it is written, so that the limits of the new file end the work
    /// where many rows share a long one.
    private func examine(_ value: Value?, _ index: Int) {
        guard case .string(let text)? = value, !text.isASCII, text.validatedString == nil else { return }
        unusualTextCounts[index] += 1
    }

    // MARK: - Writing

    /// Writes the rows that were read, in parts where they are large.
    private func write(_ count: Int, from first: Int) throws(StorageError) {
        var start = 0
        var byteCount = 0
        let lists = sources.enumerated().compactMap { index, source in
            if case .lists(_, let refs) = source { (index, refs) } else { nil }
        }
        for row in 0..<count {
            let indexByteCount = indexed.reduce(0) { $0 + levels(of: columns[$1][row]) } * LegacyClassWriter.bytesPerLevel
            if indexByteCount > LegacyClassWriter.bytesPerRun { try target.requireRoom(for: indexByteCount) }
            for (index, refs) in lists { columns[index].append(try list(refs[row], index)) }
            for index in one.properties.indices {
                let value = columns[index][row]
                byteCount += value?.byteCount ?? 0
                if byteCount > LegacyClassWriter.bytesPerRun { try target.requireRoom(for: byteCount) }
                examine(value, index)
            }
            for (index, links) in incoming.enumerated() {
                columns[one.properties.count + index].append(
                    try links.map { (links) throws(StorageError) in try backlinks(first + row, links) } ?? .null)
            }
            guard byteCount > LegacyClassWriter.bytesPerRun || target.isFull || row == count - 1 else { continue }
            try target.requireRoom(for: byteCount)
            try append(start..<row + 1, of: count, from: first)
            (start, byteCount) = (row + 1, 0)
            try target.checkpoint()
        }
    }

    /// Returns how many levels an index may have for a value, beyond the first.
    private func levels(of value: Value?) -> Int {
        min(value?.byteCount ?? 0, IndexData.maximumOffset) / LegacyClassWriter.textBytesPerLevel
    }

    /// Counts what adding some of the rows that were read takes besides new leaves: rows of few bytes are many at a time, but texts that
    /// rows share are long in all of them.
    private func spend(_ rows: Range<Int>, from first: Int) throws(StorageError) {
        guard let budget = reading.budget else { return }
        let root = one.properties.first.flatMap { one.table.root(of: $0.column) } ?? .none
        if !(first + rows.lowerBound).isMultiple(of: LegacyClassWriter.rowsPerLeaf(columns.count)) {
            try budget.spend(elements: columns.count * LegacyClassWriter.elementsPerLeaf, at: root)
        }
        for index in indexed {
            var known: Set<ByteView> = []
            var levelCount = 0
            for row in rows {
                guard case .string(let text)? = columns[index][row] else { continue }
                if known.insert(text.slice(0, IndexData.maximumOffset)).inserted { levelCount += levels(of: columns[index][row]) }
            }
            try budget.spend(
                elements: LegacyClassWriter.elementsPerLeaf + levelCount * LegacyClassWriter.elementsPerLevel, at: root)
        }
    }

    /// Writes some of the rows that were read.
    private func append(_ rows: Range<Int>, of count: Int, from first: Int) throws(StorageError) {
        try spend(rows, from: first)
        let part = rows.count == count ? columns : columns.map { Array($0[rows]) }
        try target.transaction.appendRows(
            first + rows.lowerBound..<first + rows.upperBound, in: key, columns: part,
            leafCapacity: LegacyClassWriter.rowsPerLeaf(columns.count))
    }

    /// Writes the list of one row and returns its root.
    private func list(_ element: UInt64, _ index: Int) throws(StorageError) -> Value {
        guard element != 0 else { return .null }
        var root = Ref.none
        switch one.properties[index].kind {
        case .list(let type, let column):
            let shape = ElementShape(type: type, isNullable: column.isNullable || type == .mixed)
            root = try elements(element, index, shape)
        case .linkList(let position):
            guard let table = targets[position] else { return .null }
            let limit = UInt64(file.tables[position].rowCount)
            let writer = BPlusTreeWriter(
                target.transaction.writes, ElementShape(type: .link, isNullable: false, targetTable: table))
            try LegacyLinks.forEach(inList: element, reading) { (rows) throws(StorageError) in
                let known = rows.filter { $0 < limit }
                danglingCounts[index] += rows.count - known.count
                guard !known.isEmpty else { return }
                root = try writer.append(contentsOf: known.map { .link(table, ObjectKey(Int64(bitPattern: $0))) }, to: root)
                try target.requireRoom()
            }
        case .value, .link: break
        }
        return root.isNone ? .null : .list(root)
    }

    /// Writes the elements of a table with one column, and returns the root of the list.
    private func elements(_ element: UInt64, _ index: Int, _ shape: ElementShape) throws(StorageError) -> Ref {
        guard element & 1 == 0, let spec = one.properties[index].column.subspec else {
            throw .corrupt(
                ref: one.table.root(of: one.properties[index].column) ?? .none, reason: "a list is the number \(element >> 1)")
        }
        let roots = try LegacyTable.roots(at: Ref(element), spec, reading)
        guard let first = roots.first else { return .none }
        defer { reading.keeper.take(listReading.keeper) }
        var source = try listReading.values(of: spec.columns[0], at: first)
        let writer = BPlusTreeWriter(target.transaction.writes, shape)
        var root = Ref.none
        var values: [Value?] = []
        while true {
            values.removeAll(keepingCapacity: true)
            try listReading.read(BPlusTreeWriter.standardLeafCapacity, from: &source, into: &values)
            guard !values.isEmpty else { return root }
            root = try append(values, index, with: writer, to: root)
            listReading.keeper.release()
        }
    }

    /// Appends values to a list of a property, in parts where they are large, and returns its root.
    private func append(
        _ values: [Value?], _ index: Int, with writer: BPlusTreeWriter, to root: Ref
    ) throws(StorageError) -> Ref {
        var root = root
        var (start, byteCount) = (0, 0)
        for position in values.indices {
            byteCount += values[position]?.byteCount ?? 0
            examine(values[position], index)
            guard byteCount > LegacyClassWriter.bytesPerRun || position == values.count - 1 else { continue }
            try target.requireRoom(for: byteCount)
            root = try writer.append(contentsOf: values[start...position].map { $0 ?? .null }, to: root)
            (start, byteCount) = (position + 1, 0)
        }
        return root
    }

    /// Writes the list of the objects that link to one, and returns its root.
    private func backlinks(_ row: Int, _ links: IncomingLinks) throws(StorageError) -> Value {
        var root = Ref.none
        var only: Int?
        try links.take(row) { (origins) throws(StorageError) in
            if root.isNone, origins.count == 1 {
                only = origins[0]
                return
            }
            let writer = BPlusTreeWriter(target.transaction.writes, ElementShape(type: .int, isNullable: false))
            root = try writer.append(contentsOf: origins.map { .int(Int64($0)) }, to: root)
            try target.requireRoom()
        }
        if let only { return .list(Ref(UInt64(only) << 1 | 1)) }
        return root.isNone ? .null : .list(root)
    }
}
