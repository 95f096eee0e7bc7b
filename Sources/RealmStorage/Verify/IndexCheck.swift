// SPDX-License-Identifier: Apache-2.0

/// Checks search indexes against the objects: keys of every node ascend, every object is found under its value, and
/// the index holds nothing else.
struct IndexCheck {
    private let table: Table

    init(table: Table) { self.table = table }

    func run(_ report: inout VerifyReport) {
        for column in table.columns where column.hasSearchIndex {
            report.attempt("\(table.name).\(column.name) index") { (report) throws(StorageError) in
                try check(column, &report)
            }
        }
    }

    private func check(_ column: Column, _ report: inout VerifyReport) throws(StorageError) {
        let place = "\(table.name).\(column.name) index"
        var walker = IndexWalker(space: table.space, place: place)
        try walker.walk(column.searchIndex, prefix: 0, &report)
        report.statistics.indexEntries += walker.entries.count
        let expected = try expectedEntries(column)
        let found = Dictionary(walker.entries.map { ($0, 1) }, uniquingKeysWith: +)
        for (entry, count) in found where count > 1 {
            report.error("\(place): object \(entry.object.rawValue) stands \(count) times under one key")
        }
        guard column.collection == nil, column.declaredIndex != .fullText else {
            return checkWords(column, walker.entries, expected, place, &report)
        }
        try checkValues(column, walker.entries, place, &report)
    }

    /// A general index: as many entries as objects, and each object among the candidates for its own value.
    private func checkValues(
        _ column: Column, _ entries: [IndexWalker.Entry], _ place: String, _ report: inout VerifyReport
    ) throws(StorageError) {
        if entries.count != table.count { report.error("\(place): \(entries.count) entries for \(table.count) objects") }
        let byObject = Dictionary(entries.map { ($0.object, $0) }, uniquingKeysWith: { first, _ in first })
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            let values = try leaf.attach(column)
            for row in 0..<leaf.count {
                let data = IndexData(try values.value(row))
                guard let entry = byObject[leaf.key(at: row)] else {
                    report.error("\(place): object \(leaf.key(at: row).rawValue) is missing")
                    continue
                }
                if entry.path != IndexWalker.path(of: data, levels: entry.path.count) {
                    complain(column, leaf.key(at: row), place, &report)
                }
            }
        }
    }

    /// Deleting the target of a link in an indexed Mixed leaves the index as it was, in the reference engine too.
    private func complain(_ column: Column, _ object: ObjectKey, _ place: String, _ report: inout VerifyReport) {
        let text = "\(place): object \(object.rawValue) is filed under another value"
        if column.type == .mixed { report.warn(text) } else { report.error(text) }
    }

    /// Indexes of words: exactly one entry per object and distinct word.
    private func checkWords(
        _ column: Column, _ entries: [IndexWalker.Entry], _ expected: [ObjectKey: Set<[UInt8]>], _ place: String,
        _ report: inout VerifyReport
    ) {
        var counts: [ObjectKey: Int] = [:]
        for entry in entries {
            counts[entry.object, default: 0] += 1
            let words = expected[entry.object] ?? []
            let isKnown = words.contains { word in
                entry.path == IndexWalker.path(of: IndexData(bytes: word), levels: entry.path.count)
            }
            if !isKnown { report.error("\(place): object \(entry.object.rawValue) does not hold the word it is filed under") }
        }
        for (object, words) in expected where counts[object, default: 0] != words.count {
            report.error("\(place): object \(object.rawValue) has \(counts[object, default: 0]) entries for \(words.count) words")
        }
    }

    private func expectedEntries(_ column: Column) throws(StorageError) -> [ObjectKey: Set<[UInt8]>] {
        guard column.collection != nil || column.declaredIndex == .fullText else { return [:] }
        var expected: [ObjectKey: Set<[UInt8]>] = [:]
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count { expected[leaf.key(at: row)] = try words(column, leaf, row) }
        }
        return expected
    }

    private func words(_ column: Column, _ leaf: ClusterLeaf, _ row: Int) throws(StorageError) -> Set<[UInt8]> {
        guard column.collection != nil else {
            guard case .string(let text) = try leaf.value(column, row: row) else { return [] }
            return Set(FullTextTokenizer.words(of: text))
        }
        var words: Set<[UInt8]> = []
        let root = try leaf.collectionRoot(column, row: row)
        var elements = try ListView(root: root, space: leaf.space, shape: column.elementShape).elements()
        while let value = try elements.next() {
            if case .string(let text) = value { words.insert(text.array) }
        }
        return words
    }
}

/// Visits every node of a search index and lists what it files.
struct IndexWalker {
    /// An object and the keys on the way to it.
    struct Entry: Hashable {
        let object: ObjectKey
        let path: [Int32]
    }

    private let space: NodeSpace
    private let place: String
    private var path: [Int32] = []
    private var budget: Int
    private(set) var entries: [Entry] = []

    init(space: NodeSpace, place: String) {
        self.space = space
        self.place = place
        budget = space.nodeBudget
    }

    /// The keys of `data` at offsets 0, 4, 8, …
    static func path(of data: IndexData, levels: Int) -> [Int32] { (0..<levels).map { data.key(at: 4 * $0) } }

    mutating func walk(_ ref: Ref, prefix depth: Int, _ report: inout VerifyReport) throws(StorageError) {
        budget -= 1
        guard budget >= 0, depth < SearchIndex.maximumDepth / 16 else {
            throw .corrupt(ref: ref, reason: "an index with more nodes than the file has room for")
        }
        let node = try IndexNode(ref, space)
        for position in 0..<node.count {
            if position > 0, node.key(position - 1) >= node.key(position) {
                report.error("\(place): keys of node \(ref) do not ascend")
            }
            if node.isInner {
                let before = entries.count
                try walk(try node.child(position), prefix: depth + 1, &report)
                try checkBound(node, position, before, &report)
                continue
            }
            path.append(node.key(position))
            try visit(try node.entry(position), depth, &report)
            path.removeLast()
        }
    }

    /// The key of a child is the largest in it.
    private func checkBound(
        _ node: IndexNode, _ position: Int, _ firstEntry: Int, _ report: inout VerifyReport
    ) throws(StorageError) {
        let level = path.count
        guard let last = entries.last, entries.count > firstEntry, last.path.count > level else { return }
        if last.path[level] != node.key(position) {
            report.error("\(place): a child of node \(node.node.ref) ends with another key than its parent says")
        }
    }

    private mutating func visit(
        _ entry: SearchIndex.Entry, _ depth: Int, _ report: inout VerifyReport
    ) throws(StorageError) {
        switch entry {
        case .one(let object): entries.append(Entry(object: object, path: path))
        case .subindex(let ref): try walk(ref, prefix: depth + 1, &report)
        case .list(let tree):
            let objects = try tree.objectKeys()
            if objects.isEmpty { report.error("\(place): an empty list under a key") }
            for object in objects { entries.append(Entry(object: object, path: path)) }
        }
    }
}
