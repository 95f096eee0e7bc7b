// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks the search indexes of a table: their nodes, and that every object is filed where its value implies and nowhere else.
struct IndexCheck {
    private let table: Table
    /// The proofs about indexes so far.
    private let proofs: IndexProofs

    /// Makes a check of all indexes of a table.
    ///
    /// - Parameters:
    ///   - proofs: The proofs about indexes so far.
    init(table: Table, proofs: IndexProofs = IndexProofs()) {
        self.table = table
        self.proofs = proofs
    }

    /// Checks each index and compares it with the objects; damage becomes an error of the report.
    func run(_ report: inout VerifyReport) {
        for column in table.columns {
            report.attempt("\(table.name).\(column.name) index") { (report) throws(StorageError) in
                checkDeclaration(column, &report)
                if column.hasSearchIndex { try check(column, root: column.searchIndex, in: table.space, &report) }
            }
        }
    }

    /// Reports an index that exists without a declaration, or is declared without existing.
    private func checkDeclaration(_ column: Column, _ report: inout VerifyReport) {
        let isPrimaryKey = column.leafIndex == table.primaryKey?.leafIndex
        let place = "\(table.name).\(column.name)"
        // Formats below 22 had no index for primary keys; an upgrade to 20 left them declared if they had been.
        if !column.hasSearchIndex, isPrimaryKey {
            if table.fileFormat >= 22 { report.error("\(place): a primary key without search index") }
        } else if !column.hasSearchIndex, column.declaredIndex != nil {
            // To the reference engine the property has none, as in a former primary key of an upgraded file.
            report.warn("\(place): the declared index is missing")
        }
        // The reference engine loses the declaration when an indexed column becomes optional or required.
        if column.hasSearchIndex, !isPrimaryKey, column.declaredIndex == nil {
            report.warn("\(place): a search index that is not declared")
        }
    }

    /// Checks the index of `column` whose root is `root`.
    ///
    /// - Parameters:
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the index from being read.
    func check(
        _ column: Column, root: Ref, in space: NodeSpace, _ report: inout VerifyReport
    ) throws(StorageError) {
        if let proved = proofs.result(table, column) {
            report.statistics.indexEntries += proved.entryCount
            return
        }
        let place = "\(table.name).\(column.name) index"
        var walker = IndexWalker(space: space, place: place)
        switch IndexForm(of: column) {
        case .words: try WordIndexCheck(place: place, words: try texts(column, report.control)).run(root, &walker, &report)
        case .elements: try WordIndexCheck(place: place, words: try elements(column, report.control)).run(root, &walker, &report)
        case .values:
            var check = ValueIndexCheck(place: place, isMixed: column.type == .mixed) { (object) throws(StorageError) in
                try table.find(object)?.value(column)
            }
            try check.run(root, &walker, &report)
            try reportMissing(column, found: check.found, at: place, &report)
        case nil: report.error("\(place): a property of this type cannot have an index")
        }
        report.statistics.indexEntries += walker.objectCount
    }

    /// Reports the objects that the index does not have.
    ///
    /// - Parameters:
    ///   - place: The beginning of messages.
    private func reportMissing(
        _ column: Column, found: Set<ObjectKey>, at place: String, _ report: inout VerifyReport
    ) throws(StorageError) {
        guard found.count != table.count else { return }
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            try report.checkControl()
            for row in 0..<leaf.count where !found.contains(leaf.key(at: row)) {
                report.error("\(place): object \(leaf.key(at: row).rawValue) is missing")
            }
        }
    }

    // MARK: - Words

    /// Returns the words of all texts of a column, each with the objects whose text has it.
    private func texts(_ column: Column, _ control: WorkControl?) throws(StorageError) -> WordIndexCheck.Words {
        var words: WordIndexCheck.Words = [:]
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            try control?.check()
            let values = try leaf.attach(column)
            for row in 0..<leaf.count {
                guard case .string(let text) = try values.value(row) else { continue }
                for word in Set(FullTextTokenizer.words(of: text)) { words[word, default: []].append(leaf.key(at: row)) }
            }
        }
        return words
    }

    /// Returns the elements of all lists of a column, each with the objects whose list has it.
    private func elements(_ column: Column, _ control: WorkControl?) throws(StorageError) -> WordIndexCheck.Words {
        var words: WordIndexCheck.Words = [:]
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count {
                try control?.check()
                let root = try leaf.collectionRoot(column, row: row)
                var elements = try ListView(root: root, space: leaf.space, shape: column.elementShape).elements()
                var own: Set<[UInt8]?> = []
                while let value = try elements.next() {
                    if case .string(let text) = value { own.insert(text.array) } else { own.insert(nil) }
                }
                for word in own { words[word, default: []].append(leaf.key(at: row)) }
            }
        }
        return words
    }
}
