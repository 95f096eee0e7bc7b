// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks the values of one column, object by object, and collects the links in them.
///
/// Links are collected rather than followed, because they can only be judged when all objects are known.
struct CellCheck {
    /// The version that is checked.
    private let snapshot: Snapshot
    private let table: Table
    private let column: Column
    /// The object that is checked, which messages name.
    private var object = ObjectKey.null
    /// The links that were found so far.
    private(set) var links: [LinkLedger.Link] = []

    /// Makes a check of one column of a table.
    ///
    /// - Parameters:
    ///   - snapshot: The version that is checked.
    ///   - column: The column, which is not a backlink column.
    init(snapshot: Snapshot, table: Table, column: Column) {
        self.snapshot = snapshot
        self.table = table
        self.column = column
    }

    /// Continues with another object, which messages name from then on.
    mutating func begin(_ object: ObjectKey) { self.object = object }

    /// The beginning of messages: table, column and object.
    private var place: String { "\(table.name).\(column.name) object \(object.rawValue)" }

    // MARK: - Values

    /// Checks a single value and collects the links in it.
    ///
    /// - Parameters:
    ///   - leaf: The values of the column in a cluster leaf.
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for a value that cannot be read.
    mutating func value(_ leaf: ColumnLeaf, _ row: Int, _ report: inout VerifyReport) throws(StorageError) {
        switch leaf {
        case .link(let links):
            add(links.targetTable, links.key(row))
        case .mixed(let values):
            if let link = try values.storedLink(row) {
                if link.key.isNull { report.error("\(place): a null link stored as a link") }
                add(link.table, link.key)
                return
            }
            try checkValue(try values.value(row), &report, depth: 0)
        default:
            let value = try leaf.value(row)
            if value.isNull, !column.isNullable, object.rawValue >= 0 {
                report.warn("\(place): null in a required column")
            }
            try checkValue(value, &report, depth: 0)
        }
    }

    /// Checks one value, and the collections nested in it; throws `.corrupt` when they are nested too deeply.
    private mutating func checkValue(_ value: Value, _ report: inout VerifyReport, depth: Int) throws(StorageError) {
        guard depth <= WalkBudget.maximumDepth else {
            throw .corrupt(ref: .none, reason: "\(place): collections nested deeper than \(WalkBudget.maximumDepth)")
        }
        switch value {
        case .string(let text):
            if text.validatedString == nil { report.warn("\(place): text is not valid UTF-8") }
        case .list(let root): try elements(root, .mixed, &report, depth: depth + 1)
        case .dictionary(let root): try dictionary(root, keyType: .string, &report, depth: depth + 1)
        default: break
        }
    }

    // MARK: - Collections

    /// Checks the list at `root` and collects the links in it.
    ///
    /// - Parameters:
    ///   - shape: The type of its elements.
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the list from being read.
    mutating func list(_ root: Ref, _ shape: ElementShape, _ report: inout VerifyReport) throws(StorageError) {
        try elements(root, shape, &report, depth: 0)
    }

    /// Checks the elements of a list or set, and that there are as many as its root states.
    private mutating func elements(
        _ root: Ref, _ shape: ElementShape, _ report: inout VerifyReport, depth: Int
    ) throws(StorageError) {
        let tree = try BPlusTree(root: root, space: snapshot.space, shape: shape)
        var cursor = tree.leaves()
        var count = 0
        while let (leaf, _) = try cursor.next() {
            try report.checkControl()
            count += leaf.count
            try LeafCheck.run(leaf)
            for row in 0..<leaf.count { try element(leaf, row, &report, depth: depth) }
        }
        if count != tree.count { report.error("\(place): a collection of \(count) elements claims \(tree.count)") }
    }

    /// Checks one element of a list or set, or one value of a dictionary.
    private mutating func element(
        _ leaf: ColumnLeaf, _ row: Int, _ report: inout VerifyReport, depth: Int
    ) throws(StorageError) {
        switch leaf {
        case .link(let links): add(links.targetTable, links.key(row))
        case .mixed(let values):
            if let link = try values.storedLink(row) { return add(link.table, link.key) }
            try checkValue(try values.value(row), &report, depth: depth)
        default:
            let value = try leaf.value(row)
            if value.isNull, !column.isNullable { report.warn("\(place): null in a collection of required elements") }
            try checkValue(value, &report, depth: depth)
        }
    }

    /// Checks the set at `root`, the order of its elements included, and collects the links in it.
    ///
    /// - Parameters:
    ///   - shape: The type of its elements.
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the set from being read.
    mutating func set(_ root: Ref, _ shape: ElementShape, _ report: inout VerifyReport) throws(StorageError) {
        try elements(root, shape, &report, depth: 0)
        try report.checkControl()
        guard try !hasUnorderedElements(root, shape) else { return }
        let tree = try BPlusTree(root: root, space: snapshot.space, shape: shape)
        var cursor = tree.leaves()
        var previous: Value?
        while let (leaf, _) = try cursor.next() {
            try report.checkControl()
            for row in 0..<leaf.count {
                // Unresolved links are ordered like any other.
                let value = try leaf.storedValue(row)
                if let previous, !CellCheck.ascends(from: previous, to: value, shape) {
                    func text() -> String { "\(place): set elements out of order or equal" }
                    // Older formats ordered text by other rules.
                    if snapshot.fileFormat == 24 { report.error(text()) } else { report.warn(text()) }
                    return
                }
                previous = value
            }
        }
    }

    /// Returns whether an element of a set is in order behind another one.
    private static func ascends(from previous: Value, to next: Value, _ shape: ElementShape) -> Bool {
        (shape.type == .decimal ? Value.decimalSetOrder(previous, next) : Value.order(previous, next)) < 0
    }

    static func ascends(_ leaf: ColumnLeaf, _ shape: ElementShape) throws(StorageError) -> Bool {
        var previous: Value?
        for row in 0..<leaf.count {
            let value = try leaf.storedValue(row)
            if let previous, !ascends(from: previous, to: value, shape) { return false }
            previous = value
        }
        return true
    }

    /// Returns whether a set of floats or doubles has a NaN, after which its order cannot be relied on.
    private func hasUnorderedElements(_ root: Ref, _ shape: ElementShape) throws(StorageError) -> Bool {
        guard shape.type == .float || shape.type == .double else { return false }
        var cursor = try ListView(root: root, space: snapshot.space, shape: shape).elements()
        while let value = try cursor.next() {
            switch value {
            case .float(let number) where number.isNaN: return true
            case .double(let number) where number.isNaN: return true
            default: continue
            }
        }
        return false
    }

    /// Checks the dictionary at `root`, the order of its keys included, and collects the links in it.
    ///
    /// - Parameters:
    ///   - report: Gets what is wrong or unusual.
    ///   - depth: The nesting of the dictionary in others.
    /// - Throws: `.corrupt` for damage that keeps the dictionary from being read.
    mutating func dictionary(
        _ root: Ref, keyType: ColumnType, _ report: inout VerifyReport, depth: Int = 0
    ) throws(StorageError) {
        let dictionary = try DictionaryView(
            root: root, space: snapshot.space, keyType: keyType, fileFormat: snapshot.fileFormat)
        var known: Set<ByteView> = []
        var previous: ByteView?
        try keyLeaves(dictionary)
        var entries = dictionary.entries()
        while let entry = try entries.next() {
            try report.checkControl()
            if case .text(let key) = entry.key {
                if !known.insert(key).inserted { report.error("\(place): duplicate dictionary key") }
                if let previous, key < previous { report.warn("\(place): dictionary keys are not in byte order") }
                previous = key
            }
        }
        try dictionaryValues(root, dictionary, &report, depth: depth)
    }

    /// Checks the leaves of the keys of a dictionary; throws `.corrupt` for damage in one of them.
    private func keyLeaves(_ dictionary: DictionaryView) throws(StorageError) {
        guard var leaves = dictionary.keyTree?.leaves() else { return }
        while let (leaf, _) = try leaves.next() { try LeafCheck.run(leaf) }
    }

    /// Checks the values of a dictionary, in either form of storage.
    private mutating func dictionaryValues(
        _ root: Ref, _ dictionary: DictionaryView, _ report: inout VerifyReport, depth: Int
    ) throws(StorageError) {
        guard let values = dictionary.valueTree else {
            for index in 0..<dictionary.count {
                let value = try dictionary.value(at: index)
                if case .link(let table, let key) = value { add(table, key) }
                try checkValue(value, &report, depth: depth)
            }
            return
        }
        try elements(values.root, .mixed, &report, depth: depth)
    }

    /// Collects a link, unless it is null.
    private mutating func add(_ target: TableKey, _ key: ObjectKey) {
        guard !key.isNull else { return }
        links.append(
            LinkLedger.Link(
                origin: table.key, column: column.leafIndex, originKey: object, target: target, targetKey: key))
    }
}
