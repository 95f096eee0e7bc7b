// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
@testable import RealmVerify
import Testing

@testable import RealmStorage

@Suite("Verification looks into search indexes")
struct IndexDamageTests {
    /// A change to a sound index, and what the check must say about it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let message: String
        let damage: @Sendable (DamagedIndex) throws -> Void
    }

    private static let cases: [Case] = [
        Case(testDescription: "nothing at all", message: "") { _ in },
        Case(testDescription: "keys out of order", message: "do not ascend") { index in
            try index.changeKeys(of: index.firstLeaf()) { keys in
                let first = keys.integer(0)
                try keys.set(0, keys.integer(1))
                try keys.set(1, first)
            }
        },
        Case(testDescription: "wide keys", message: "64 bits wide") { index in
            try index.changeKeys(of: index.firstLeaf()) { keys in try keys.widen(toCode: 7) }
        },
        Case(testDescription: "a flag of the key node", message: "marked as something else") { index in
            try index.changeKeys(of: index.firstLeaf()) { keys in keys.setContext(true) }
        },
        Case(testDescription: "a parent's key", message: "ends with another key") { index in
            try index.changeKeys(of: index.root) { keys in try keys.set(0, keys.integer(0) + 1) }
        },
        Case(testDescription: "a key", message: "filed under another value") { index in
            try index.changeKeys(of: index.firstLeaf()) { keys in try keys.set(0, keys.integer(0) - 1) }
        },
        Case(testDescription: "another object", message: "is filed twice") { index in
            try index.changeLists { list in try list.set(1, list.integer(0)) }
        },
        Case(testDescription: "an object that is not there", message: "does not exist") { index in
            try index.changeLists { list in try list.append(4000) }
        },
        Case(testDescription: "a list out of order", message: "out of order") { index in
            try index.changeLists { list in
                let first = list.integer(0)
                try list.set(0, list.integer(1))
                try list.set(1, first)
            }
        },
        Case(testDescription: "an empty list", message: "an empty list") { index in
            try index.changeLists { list in list.removeIntegers(0..<list.count) }
        },
        Case(testDescription: "an object missing from a list", message: "is missing") { index in
            try index.changeLists { list in list.removeInteger(at: 0) }
        },
        Case(testDescription: "an empty level", message: "is empty") { index in
            let empty = try index.writer.makeEmpty()
            let leaf = try index.firstLeaf()
            var node = try index.writes.writable(leaf)
            try node.set(1, empty)
        },
    ]

    @Test(arguments: cases)
    func `What is damaged is found`(_ one: Case) throws {
        let index = try DamagedIndex()
        try one.damage(index)
        var report = VerifyReport()
        var walker = IndexWalker(space: index.writes.space, place: "index")
        let values = index.values
        var check = ValueIndexCheck(place: "index", isMixed: false) { (object) throws(StorageError) in values[object] }
        try check.run(index.root, &walker, &report)
        for object in values.keys where !check.found.contains(object) { report.error("object \(object.rawValue) is missing") }
        if one.message.isEmpty {
            #expect(report.isClean, "\(report.errors)")
        } else {
            #expect(report.errors.contains { $0.contains(one.message) }, "\(report.errors)")
        }
    }

    @Test func `What the reference engine is known to leave behind is a warning`() throws {
        let scratch = try IndexScratch()
        var values: [ObjectKey: Value] = [ObjectKey(1): .link(TableKey(3), ObjectKey(9)), ObjectKey(2): .int(7)]
        let writer = SearchIndexWriter(scratch.writes, isMixed: true) { (_) throws(StorageError) in .null }
        let root = try writer.build(values.map { ($0.value, $0.key) })
        // Deleting the target of an indexed link makes the property null and leaves the index as it was.
        values[ObjectKey(1)] = .null
        for isMixed in [true, false] {
            var report = VerifyReport()
            var walker = IndexWalker(space: scratch.writes.space, place: "index")
            let stored = values
            var check = ValueIndexCheck(place: "index", isMixed: isMixed) { (object) throws(StorageError) in stored[object] }
            try check.run(root, &walker, &report)
            let text = ["index: object 1 is filed under another value"]
            #expect(report.errors == (isMixed ? [] : text) && report.warnings == (isMixed ? text : []))
        }
    }

    @Test func `Words that are missing, or filed without reason, are found`() throws {
        let scratch = try IndexScratch()
        let writer = WordIndexWriter(scratch.writes)
        let root = try writer.build([Array("word".utf8): [ObjectKey(1), ObjectKey(2)], Array("wordy".utf8): [ObjectKey(2)]])
        func errors(_ words: WordIndexCheck.Words) throws -> [String] {
            var report = VerifyReport()
            var walker = IndexWalker(space: scratch.writes.space, place: "index")
            try WordIndexCheck(place: "index", words: words).run(root, &walker, &report)
            return report.errors
        }
        let word = Array("word".utf8)
        let wordy = Array("wordy".utf8)
        #expect(try errors([word: [ObjectKey(1), ObjectKey(2)], wordy: [ObjectKey(2)]]) == [])
        #expect(
            try errors([word: [ObjectKey(1), ObjectKey(2)], wordy: [ObjectKey(2), ObjectKey(3)]])
                == ["index: object 3 is missing under 'wordy'"])
        #expect(
            try errors([word: [ObjectKey(1)], wordy: [ObjectKey(2)]])
                == ["index: object 2 does not hold 'word', under which it is filed"])
        #expect(try errors([word: [ObjectKey(1), ObjectKey(2)]]).count == 1)
        #expect(try errors([word: [ObjectKey(1), ObjectKey(2)], wordy: [ObjectKey(2)], nil: [ObjectKey(5)]]).count == 1)
    }
}

/// An index of integers with an inner node, some of whose keys have lists, in a transaction.
final class DamagedIndex {
    private let scratch: IndexScratch
    let writer: SearchIndexWriter
    let values: [ObjectKey: Value]
    let root: Ref

    var writes: WriteSpace { scratch.writes }

    init() throws {
        scratch = try IndexScratch()
        let values = Dictionary(
            uniqueKeysWithValues: (0..<60).map { (ObjectKey(Int64($0)), Value.int(Int64($0 / 3) << 24)) })
        self.values = values
        writer = SearchIndexWriter(scratch.writes, isMixed: false, capacity: .small(5)) { (object) throws(StorageError) in
            values[object] ?? .null
        }
        root = try writer.build(values.map { ($0.value, $0.key) })
    }

    func firstLeaf() throws -> Ref {
        var node = try IndexNode(root, writes.space)
        while node.isInner { node = try IndexNode(try node.child(0), writes.space) }
        return node.node.ref
    }

    func changeKeys(of ref: Ref, _ change: (inout MutableNode) throws -> Void) throws {
        var node = try writes.writable(ref)
        var keys = try writes.writable(node.ref(0))
        try change(&keys)
        try node.set(0, keys.ref)
    }

    /// Changes the first list.
    func changeLists(_ change: (inout MutableNode) throws -> Void) throws {
        var node = try writes.writable(try firstLeaf())
        var list = try writes.writable(node.ref(1))
        try change(&list)
        try node.set(1, list.ref)
    }
}
