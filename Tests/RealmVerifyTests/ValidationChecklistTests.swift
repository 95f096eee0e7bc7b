// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// One kind of damage for each line of the format's validation checklist.
@Suite("Validation checklist")
struct ValidationChecklistTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let line: Int
        let what: String
        let fixture: String
        /// What the report must name.
        let expected: String
        let edit: @Sendable (inout FileEditor, Snapshot) -> Void

        var testDescription: String { "line \(line): \(what)" }
    }

    @Test(arguments: cases)
    func `each line has its check`(_ row: Case) throws {
        let path = try Fixtures.path(row.fixture)
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var editor = FileEditor(original)
        row.edit(&editor, try Snapshot(file: try RealmFile(path: path)))
        #expect(editor.bytes != original, "the edit changed nothing")
        let verdict = try Verdict(of: editor.bytes)
        #expect(verdict.text.contains(row.expected), "\(verdict.text)")
    }

    @Test func `every line of the checklist that concerns plain files is covered`() {
        #expect(Set(Self.cases.map(\.line)) == Set(1...22).subtracting([7]))
    }

    static let cases: [Case] = fileCases + nodeCases + structureCases + leafCases

    private static let fileCases: [Case] = [
        Case(line: 1, what: "a file shorter than its header", fixture: "types-single", expected: "too small") { file, _ in
            file.bytes.removeLast(file.bytes.count - 16)
        },
        Case(line: 1, what: "another signature", fixture: "types-single", expected: "no Realm signature") { file, _ in
            file.bytes[16] = 0x55
        },
        Case(line: 1, what: "a size that is not a multiple of 8", fixture: "types-single", expected: "multiple of 8") { file, _ in
            file.bytes.append(0)
        },
        Case(line: 1, what: "an unknown format", fixture: "types-single", expected: "format 25 is newer than 24") { file, _ in
            file.bytes[20 + Int(file.bytes[23] & 1)] = 25
        },
        Case(line: 1, what: "a format of long ago", fixture: "types-single", expected: "file format 1 is that of a TightDB") {
            file, _ in
            file.bytes[20 + Int(file.bytes[23] & 1)] = 1
        },
        Case(line: 1, what: "a top ref past the end", fixture: "types-single", expected: "cut short") { file, _ in
            file.set(1 << 40, at: 8 * Int(file.bytes[23] & 1), byteCount: 8)
        },
        Case(line: 1, what: "a footer cut off", fixture: "streaming", expected: "bad cookie") { file, _ in
            file.bytes.removeLast(8)
        },
        Case(line: 2, what: "a top node of another size", fixture: "types-single", expected: "a top node of 8 slots") { file, _ in
            file.setCount(file.top, 8)
        },
        Case(line: 2, what: "a logical size that is not a number", fixture: "types-single", expected: "not a number") { file, _ in
            file.setElement(file.top, 2, file.element(file.top, 2) & ~1)
        },
        Case(line: 2, what: "a logical size beyond the file", fixture: "types-single", expected: "a logical file size") {
            file, _ in
            file.bytes.removeLast(file.bytes.count / 4 & ~7)
        },
    ]

    private static let nodeCases: [Case] = [
        Case(line: 3, what: "a number where a ref belongs", fixture: "types-single", expected: "holds a number where a ref") {
            file, _ in
            file.setElement(file.top, 1, 3)
        },
        Case(line: 3, what: "a ref where a number belongs", fixture: "types-single", expected: "holds a ref where a number") {
            file, snapshot in
            file.setElement(file.table("Target", in: snapshot), 3, 8)
        },
        Case(line: 4, what: "a misaligned ref", fixture: "types-single", expected: "misaligned or outside") { file, _ in
            file.setElement(file.tables, 0, file.element(file.tables, 0) + 4)
        },
        Case(line: 4, what: "a node that reaches past the end", fixture: "types-single", expected: "end after the logical file") {
            file, snapshot in
            file.setCount(file.values("AllRequired", "doubleValue", in: snapshot), 0xff_ffff)
        },
        Case(line: 4, what: "width type 3", fixture: "types-single", expected: "impossible node flags") { file, snapshot in
            file.bytes[file.values("AllRequired", "intValue", in: snapshot) + 4] |= 0x18
        },
        Case(line: 5, what: "refs read from a node without them", fixture: "types-single", expected: "bad top node") {
            file, snapshot in
            file.bytes[file.table("Target", in: snapshot) + 4] &= ~0x40
        },
        Case(line: 5, what: "integers read from bytes", fixture: "types-single", expected: "expected packed integers") {
            file, snapshot in
            file.bytes[file.values("AllRequired", "intValue", in: snapshot) + 4] |= 0x10
        },
        Case(line: 6, what: "a spec of other size", fixture: "types-single", expected: "a spec of 5 slots") { file, snapshot in
            file.setCount(file.child(file.table("Target", in: snapshot), 0), 5)
        },
    ]

    private static let structureCases: [Case] = [
        Case(line: 8, what: "fewer names than tables", fixture: "types-single", expected: "table names for") { file, _ in
            file.setCount(file.child(file.top, 0), file.count(file.tables) - 1)
        },
        Case(line: 8, what: "a table key at another position", fixture: "types-single", expected: "at position") {
            file, snapshot in
            file.setElement(file.table("Target", in: snapshot), 3, 15)
        },
        Case(line: 9, what: "an unknown column type", fixture: "types-single", expected: "unknown type") { file, snapshot in
            file.setElement(file.child(file.child(file.table("AllRequired", in: snapshot), 0), 0), 0, 7)
        },
        Case(line: 9, what: "a column key that disagrees", fixture: "types-single", expected: "disagrees with its type") {
            file, snapshot in
            file.setElement(file.child(file.child(file.table("AllRequired", in: snapshot), 0), 0), 0, 1)
        },
        Case(line: 9, what: "spec arrays of different length", fixture: "types-single", expected: "differ in length") {
            file, snapshot in
            file.setCount(file.child(file.child(file.table("AllRequired", in: snapshot), 0), 5), 3)
        },
        Case(line: 10, what: "a link to no table", fixture: "links", expected: "point to no table") { file, snapshot in
            let table = snapshot.classTable(named: "Dog")
            let leafIndex = table?.column(named: "owner")?.leafIndex ?? 0
            file.setElement(file.child(file.table("Dog", in: snapshot), 7), leafIndex, 77)
        },
        Case(line: 11, what: "a cluster depth out of range", fixture: "sizes", expected: "an inner cluster node of depth") {
            file, snapshot in
            file.setElement(file.child(file.table("Item257", in: snapshot), 2), 1, 21)
        },
        Case(line: 11, what: "a subtree of another size", fixture: "sizes", expected: "objects that claims") { file, snapshot in
            let root = file.child(file.table("Item257", in: snapshot), 2)
            file.setElement(root, 2, file.element(root, 2) + 2)
        },
        Case(line: 11, what: "object keys that do not ascend", fixture: "big-keys", expected: "do not ascend") { file, snapshot in
            let leaf = file.leaf(file.table("Row", in: snapshot))
            let keys = file.child(leaf, 0)
            file.setElement(keys, 0, file.element(keys, 1))
        },
        Case(line: 12, what: "a column with too few values", fixture: "types-single", expected: "values in column 'intValue'") {
            file, snapshot in
            file.setCount(file.values("AllRequired", "intValue", in: snapshot), 39)
        },
        Case(line: 12, what: "a compact leaf of too many objects", fixture: "sizes", expected: "a cluster leaf of") {
            file, snapshot in
            file.setElement(file.leaf(file.table("Item300", in: snapshot)), 0, 1_001)
        },
        Case(line: 13, what: "a tree whose total is wrong", fixture: "lists", expected: "promises") { file, snapshot in
            let root = file.longList("Parent", "ints", snapshot)
            file.setElement(root, file.count(root) - 1, file.element(root, file.count(root) - 1) + 2)
        },
        Case(line: 14, what: "a tree that contains itself", fixture: "lists", expected: "referenced more than once") {
            file, snapshot in
            let root = file.longList("Parent", "ints", snapshot)
            file.setElement(root, 1, UInt64(root))
        },
        Case(line: 14, what: "two tables with one tree", fixture: "sizes", expected: "shares a node") { file, snapshot in
            let other = file.table("Item257", in: snapshot)
            file.setElement(file.table("Item300", in: snapshot), 2, file.element(other, 2))
        },
        Case(line: 15, what: "a collection inside itself", fixture: "mixed", expected: "referenced more than once") {
            file, snapshot in
            file.nestCollectionInItself(snapshot)
        },
    ]

    private static let leafCases: [Case] = [
        Case(line: 16, what: "a short string with too much padding", fixture: "strings", expected: "bytes of padding") {
            file, snapshot in
            let cells = file.values("Text", "upTo3", in: snapshot)
            file.bytes[cells + 8 + file.width(cells) - 1] = 200
        },
        Case(line: 16, what: "a medium string that ends outside", fixture: "strings", expected: "ends outside its bytes") {
            file, snapshot in
            let leaf = file.values("Text", "upTo63", in: snapshot)
            file.setElement(file.child(leaf, 0), 0, 0x7fff)
        },
        Case(line: 16, what: "a big string without final zero", fixture: "strings", expected: "without a final zero byte") {
            file, snapshot in
            let leaf = file.values("Text", "upTo4k", in: snapshot)
            let blob = file.child(leaf, 12)
            file.bytes[blob + 8 + file.count(blob) - 1] = 0x41
        },
        Case(line: 17, what: "a nullable leaf without its marker", fixture: "types-single", expected: "without its null marker") {
            file, snapshot in
            file.setCount(file.values("AllOptional", "intValue", in: snapshot), 0)
        },
        Case(line: 17, what: "nanoseconds out of range", fixture: "types-single", expected: "ns, beyond 10^9") { file, snapshot in
            let nanoseconds = file.child(file.values("AllRequired", "dateValue", in: snapshot), 1)
            for row in 0..<file.count(nanoseconds) { file.setElement(nanoseconds, row, 0x7fff_ffff) }
        },
        Case(
            line: 18, what: "bytes that do not divide into ids", fixture: "types-single",
            expected: "do not divide into identifiers"
        ) { file, snapshot in
            let ids = file.values("AllRequired", "objectIdValue", in: snapshot)
            file.setCount(ids, file.count(ids) - 5)
        },
        Case(line: 18, what: "a decimal width that does not exist", fixture: "types-single", expected: "a decimal leaf of width")
        { file, snapshot in
            let leaf = file.values("AllRequired", "decimalValue", in: snapshot)
            file.bytes[leaf + 4] = file.bytes[leaf + 4] & ~7 | 2
        },
        Case(line: 19, what: "an index beyond the enumerated strings", fixture: "enumerated", expected: "enumerated strings") {
            file, snapshot in
            let leaf = file.values("Row", "city", in: snapshot)
            file.setElement(leaf, 0, UInt64((1 << file.width(leaf)) - 1))
        },
        Case(line: 20, what: "a mixed value of unknown type", fixture: "mixed", expected: "has type") { file, snapshot in
            let words = file.child(file.values("Holder1", "any", in: snapshot), 0)
            file.setElement(words, 0, 0x1f)
        },
        Case(line: 20, what: "a payload outside its slot", fixture: "mixed", expected: "outside slot 3") { file, snapshot in
            let words = file.child(file.values("Holder1", "any", in: snapshot), 0)
            for row in 0..<file.count(words) where file.element(words, row) & 0xff == 0x63 {
                file.setElement(words, row, 0x7f63)
            }
        },
        Case(line: 21, what: "more dictionary keys than values", fixture: "types-dictionary", expected: "dictionary keys with") {
            file, snapshot in
            let cells = file.values("DictionaryRequired", "ints", in: snapshot)
            for row in 0..<file.count(cells) where file.element(cells, row) != 0 {
                let keys = file.child(file.child(cells, row), 0)
                if file.count(keys) > 1 { file.setCount(keys, file.count(keys) - 1) }
            }
        },
        Case(line: 22, what: "a link to an object that is not there", fixture: "links", expected: "does not exist") {
            file, snapshot in
            let links = file.values("Person", "dog", in: snapshot)
            file.setElement(links, 0, UInt64((1 << (file.width(links) - 1)) - 1))
        },
    ]

    @Test func `line 7: pages of an encrypted file that fail their check are errors`() throws {
        let path = try Fixtures.path("encrypted")
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        // One byte in every page but the first of each group and the header page.
        for page in 2..<bytes.count / 4096 where page % 65 != 0 { bytes[page * 4096 + 100] ^= 1 }
        let verdict = try Verdict(of: bytes, key: try EncryptionKey(bytes: Fixtures.key))
        #expect(verdict.text.contains("of the encrypted file"), "\(verdict.text)")
    }

    @Test func `line 23: text that is not UTF-8 is read as its bytes and reported`() throws {
        let path = try Fixtures.path("strings")
        var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        let cells = editor.values("Text", "upTo3", in: try Snapshot(file: try RealmFile(path: path)))
        let width = editor.width(cells)
        for row in 0..<editor.count(cells) where editor.bytes[cells + 8 + (row + 1) * width - 1] == 0 {
            editor.bytes[cells + 8 + row * width] = 0xff
        }
        let verdict = try Verdict(of: editor.bytes)
        #expect(verdict.errors.isEmpty, "\(verdict.errors)")
        #expect(verdict.warnings.contains { $0.contains("not valid UTF-8") })
    }
}

/// What opening, checking and reading a file says.
private struct Verdict {
    private(set) var errors: [String] = []
    private(set) var warnings: [String] = []

    var text: String { errors.joined(separator: "\n") }

    init(of bytes: [UInt8], key: EncryptionKey? = nil) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("checklist-\(UUID().uuidString).realm")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let snapshot = try Snapshot(file: try RealmFile(path: file.path, key: key))
            let report = snapshot.verify()
            errors = report.errors
            warnings = report.warnings
            var read = DeepRead(snapshot)
            try read.run()
        } catch let error as StorageError {
            errors.append("\(error)")
        }
    }
}

extension FileEditor {
    /// The root of the first list of the property that has inner nodes.
    fileprivate func longList(_ className: String, _ property: String, _ snapshot: Snapshot) -> Int {
        let cells = values(className, property, in: snapshot)
        for row in 0..<count(cells) where element(cells, row) != 0 {
            let root = child(cells, row)
            if bytes[root + 4] & 0x80 != 0 { return root }
        }
        preconditionFailure("no long list in \(className).\(property)")
    }

    /// Lets the first nested collection of the Mixed column refer to the column's own leaf.
    fileprivate mutating func nestCollectionInItself(_ snapshot: Snapshot) {
        let leaf = values("Holder1", "any", in: snapshot)
        let collections = child(leaf, 4)
        for row in 0..<count(collections) where element(collections, row) != 0 {
            return setElement(collections, row, UInt64(leaf))
        }
    }
}
