// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One key path of groups: it numbers the values of a result, a leaf at a time.
///
/// Integers, booleans and links are numbered as they are packed in the leaves, enumerated strings by
/// their indexes; values are read only for what is left. A key belongs to one result.
final class GroupKey {
    /// The key path.
    let key: SortKey
    /// The numbers of packed elements: integers, booleans as 0 and 1, links, or indexes of strings.
    private var integers = IntegerNumbering()
    /// The numbers of values, for all other columns; for strings those of the column's texts.
    private var values: ValueNumbering
    /// The number of the text of each index that has a number in `integers`.
    private var textNumbers: [UInt32] = []
    /// The occurrences of each integer in the rows that `tally` has counted, one place behind its number.
    private var tallied: [Int] = []
    /// The numbers of short texts in `values`.
    private var shortTexts = ShortTextNumbers()
    /// The values of one leaf, while they are numbered.
    private var scratch: [Value] = []
    /// The function of the values; nil when the values themselves are numbered.
    private let function: ValueFunction?
    /// The numbers of days or hours whose number in `integers` is in `partNumbers`.
    private var parts = IntegerNumbering()
    private var partNumbers: [UInt32] = []
    /// Seconds or ints of one leaf, widened.
    private var widened: [Int64] = []
    /// The bytes of keys that are not in the snapshot.
    private(set) var owners: [ByteStorage] = []
    /// Whether a mixed value was of a type that the function does not take.
    private(set) var hasOtherType = false

    /// How the numbers of the key are found.
    private enum Form { case integers, booleans, links, values }
    private let form: Form

    /// Makes a key without values.
    ///
    /// - Parameter function: A function that takes the type of the path; nil for the values themselves.
    init(_ key: SortKey, _ function: ValueFunction?, _ cancellation: CancellationCheck) {
        self.key = key
        self.function = function
        values = ValueNumbering(of: function?.resultType(of: key.valueType) ?? key.column.type, cancellation)
        if let function {
            form = function.resultType(of: key.valueType) == .int ? .integers : .values
            return
        }
        switch key.column.type {
        case .int where key.isPlainColumn: form = .integers
        case .bool where key.isPlainColumn: form = .booleans
        case .link where key.isPlainColumn: form = .links
        default: form = .values
        }
    }

    /// How many values have numbers.
    var count: Int { form == .values ? values.count : integers.count }

    /// About the memory that the values take with their numbers.
    var byteCount: Int {
        integers.byteCount + values.byteCount + textNumbers.count * MemoryLayout<UInt32>.stride
            + tallied.count * MemoryLayout<Int>.stride + parts.byteCount + partNumbers.count * MemoryLayout<UInt32>.stride
            + owners.count * GroupKey.bytesPerOwner
    }

    /// About the memory of a text of one character.
    static let bytesPerOwner = 64

    /// Whether a value was a collection inside Mixed, by which nothing can be grouped.
    var hasCollection: Bool { values.hasCollection }

    /// Returns the value of a number, which is below `count`.
    func value(_ number: Int) -> Value {
        if form == .values { return values.values[number] }
        guard let integer = integers.integers[number] else { return .null }
        switch form {
        case .booleans: return .bool(integer != 0)
        case .links:
            return key.column.targetTable.map { .link($0, ObjectKey(integer - LinkLeaf.shiftInClusters)) } ?? .null
        case .integers, .values: return .int(integer)
        }
    }

    /// Numbers the values in several rows of a leaf.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the class.
    ///   - numbers: Receives the number of each row from its beginning; it has room for a mask.
    func number(_ leaf: ClusterLeaf, _ rows: Mask, into numbers: inout [UInt32]) throws(StorageError) {
        if let function { return try number(function, leaf, rows, into: &numbers) }
        guard key.isPlainColumn else { return try numberValues(leaf, rows, into: &numbers) }
        switch try key.values(of: leaf) {
        case .int(let leaf):
            integers.number(
                leaf.elements, rows, start: leaf.start, nulls: leaf.isNullable ? .equal(leaf.nullMarker) : .none,
                into: &numbers)
        case .bool(let leaf): integers.number(leaf.elements, rows, nulls: .equal(BoolLeaf.nullElement), into: &numbers)
        case .link(let leaf):
            integers.number(leaf.elements, rows, nulls: .below(LinkLeaf.shiftInClusters), into: &numbers)
        case .string(let texts):
            if let indexes = texts.enumeratedIndexes {
                try number(texts, indexes, rows, into: &numbers)
            } else if let cells = texts.cells {
                try number(texts, cells, rows, into: &numbers)
            } else {
                try numberValues(leaf, rows, into: &numbers)
            }
        default: try numberValues(leaf, rows, into: &numbers)
        }
    }

    // MARK: - Sizes alone

    /// Counts the values in several rows of a leaf, where nothing but the sizes of groups is needed.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the class.
    /// - Returns: Whether the rows were counted, for `finishTally`. Values that are not packed integers are not; they
    ///   have to be numbered first.
    func tally(_ leaf: ClusterLeaf, _ rows: Mask) throws(StorageError) -> Bool {
        guard key.isPlainColumn, function == nil else { return false }
        switch try key.values(of: leaf) {
        case .int(let leaf):
            integers.tally(
                leaf.elements, rows, start: leaf.start, nulls: leaf.isNullable ? .equal(leaf.nullMarker) : .none, into: &tallied)
        case .bool(let leaf): integers.tally(leaf.elements, rows, nulls: .equal(BoolLeaf.nullElement), into: &tallied)
        case .link(let leaf):
            integers.tally(leaf.elements, rows, nulls: .below(LinkLeaf.shiftInClusters), into: &tallied)
        case .string(let texts):
            guard let indexes = texts.enumeratedIndexes else { return false }
            integers.tally(indexes, rows, into: &tallied)
            if integers.count > textNumbers.count {
                // The texts of new indexes are found by their rows.
                var numbers = [UInt32](repeating: 0, count: Mask.capacity)
                try number(texts, indexes, rows, into: &numbers)
            }
        default: return false
        }
        return true
    }

    /// Adds what `tally` has counted.
    func finishTally(into sizes: inout [Int]) {
        sizes.extend(to: count, with: 0)
        for (integer, size) in tallied.dropFirst().enumerated() {
            sizes[form == .values ? Int(textNumbers[integer]) : integer] += size
        }
    }

    // MARK: - Numbers

    /// Numbers enumerated strings. A text is looked at once, when its index first occurs.
    private func number(
        _ texts: StringLeaf, _ indexes: PackedIntegers, _ rows: Mask, into numbers: inout [UInt32]
    ) throws(StorageError) {
        integers.number(indexes, rows, into: &numbers)
        var place = 0
        if integers.count > textNumbers.count {
            // Indexes are numbered in the order of the rows, so new ones come in that order too.
            try rows.forEach { row throws(StorageError) in
                if Int(numbers[place]) == textNumbers.count {
                    textNumbers.append(try values.number(try texts.value(row)))
                }
                place += 1
            }
        }
        for place in 0..<rows.count { numbers[place] = textNumbers[Int(numbers[place])] }
    }

    /// Numbers strings in cells. A short text is read once, when it first occurs.
    private func number(
        _ texts: StringLeaf, _ cells: (bytes: ByteView, width: Int), _ rows: Mask, into numbers: inout [UInt32]
    ) throws(StorageError) {
        guard !shortTexts.lookUp(cells.bytes, width: cells.width, rows, into: &numbers) else { return }
        var place = 0
        try rows.forEach { row throws(StorageError) in
            if numbers[place] == ShortTextNumbers.unknown {
                let number = try values.number(try texts.value(row))
                shortTexts.remember(number, of: cells.bytes, width: cells.width, row: row)
                numbers[place] = number
            }
            place += 1
        }
    }

    private func numberValues(
        _ leaf: ClusterLeaf, _ rows: Mask, into numbers: inout [UInt32]
    ) throws(StorageError) {
        scratch.removeAll(keepingCapacity: true)
        try key.append(leaf, rows, to: &scratch)
        for place in scratch.indices { numbers[place] = try values.number(scratch[place]) }
    }
}

/// Groups by functions of values.
extension GroupKey {
    /// Numbers the results of a function for several rows of a leaf.
    func number(
        _ function: ValueFunction, _ leaf: ClusterLeaf, _ rows: Mask, into numbers: inout [UInt32]
    ) throws(StorageError) {
        if key.isPlainColumn {
            switch try key.values(of: leaf) {
            case .int(let values):
                let null = values.isNullable ? values.nullMarker : nil
                return number(function, values.elements, rows, start: values.start, null: null, into: &numbers)
            case .timestamp(let dates): return try number(function, dates, rows, into: &numbers)
            default: break
            }
        }
        scratch.removeAll(keepingCapacity: true)
        try key.append(leaf, rows, to: &scratch)
        for place in scratch.indices { numbers[place] = try number(function, scratch[place]) }
    }

    /// Numbers the result for one value. A value of a type that the function does not take counts as null, and is remembered.
    private func number(_ function: ValueFunction, _ value: Value) throws(StorageError) -> UInt32 {
        let known = owners.count
        let result = function.result(of: value, keeping: &owners)
        if result == nil { hasOtherType = true }
        guard form == .values else {
            guard case .int(let number)? = result else { return integers.numberOfNull() }
            return integers.number(number)
        }
        let count = values.count
        let number = try values.number(result ?? .null)
        // Only the first of equal texts is kept.
        if values.count == count, owners.count > known { owners.removeLast() }
        return number
    }

    /// Numbers the results for packed ints.
    private func number(
        _ function: ValueFunction, _ elements: PackedIntegers, _ rows: Mask, start: Int, null: Int64?,
        into numbers: inout [UInt32]
    ) {
        widen()
        elements.copy(rows, start: start, into: &widened)
        for place in 0..<rows.count {
            let element = widened[place]
            guard element != null, let result = function.integer(of: element) else {
                numbers[place] = integers.numberOfNull()
                continue
            }
            numbers[place] = integers.number(result)
        }
    }

    /// Numbers parts of dates. The calendar is asked once for each day or hour.
    private func number(
        _ function: ValueFunction, _ dates: TimestampLeaf, _ rows: Mask, into numbers: inout [UInt32]
    ) throws(StorageError) {
        widen()
        dates.seconds.elements.copy(rows, start: dates.seconds.start, into: &widened)
        let null = dates.seconds.nullMarker
        let unit: Int64 = function == .hour ? 3_600 : 86_400
        var place = 0
        try rows.forEach { row throws(StorageError) in
            defer { place += 1 }
            let second = widened[place]
            // Before 1970 the nanoseconds lead to the second before.
            guard second > 0, second != null else {
                numbers[place] = try number(function, try dates.value(row))
                return
            }
            let part = parts.number(second / unit)
            if Int(part) == partNumbers.count {
                partNumbers.append(try number(function, .timestamp(Timestamp(seconds: second, nanoseconds: 0))))
            }
            numbers[place] = partNumbers[Int(part)]
        }
    }

    private func widen() {
        if widened.isEmpty { widened = [Int64](repeating: 0, count: Mask.capacity) }
    }
}
