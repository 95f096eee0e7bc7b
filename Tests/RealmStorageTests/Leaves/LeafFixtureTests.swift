// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Leaves that the reference engine wrote, changed at random.
@Suite struct LeafFixtureTests {
    static let names = [
        "types-single", "types-list", "types-set", "types-dictionary", "strings", "int-widths", "mixed", "enumerated", "links",
        "unresolved", "sizes", "sizes-1000", "lists", "indexes", "odd-short-key-array", "binaries", "random-1", "random-2",
        "table-70000",
    ].filter(Fixtures.names.contains)

    /// A leaf of the file and how it is read.
    struct Place {
        let leaf: Ref
        let shape: ElementShape
        let inCluster: Bool
        let enumeration: Ref?
        let note: String
    }

    @Test(arguments: names)
    func `Committed leaves behave like arrays`(_ name: String) throws {
        let snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(name)))
        let places = try snapshot.tables.flatMap(LeafFixtureTests.places)
        #expect(!places.isEmpty)
        for (index, place) in places.enumerated() {
            for round in 0..<(TestRun.isLong ? 4 : 1) {
                try LeafFixtureTests.exercise(place, snapshot, seed: index + round * 1000, name)
            }
        }
    }

    private static func exercise(_ place: Place, _ snapshot: Snapshot, seed: Int, _ name: String) throws {
        let writes = WriteSpace(base: snapshot.space, arena: try NodeArena(byteCount: 1 << 28))
        var rig = try LeafRig(
            writes, place.shape, inCluster: place.inCluster, leaf: place.leaf, enumeration: place.enumeration, seed: seed,
            note: "\(name) \(place.note)")
        rig.sampler.level = seed % 9
        // Long leaves: fewer steps, because every check reads all of them.
        let steps = rig.model.count > 300 ? 12 : 60
        for step in 0..<steps {
            try rig.step()
            if step % 4 == 3 { try rig.check(step) }
        }
        try rig.finish()
    }

    /// The first and the last leaf of every column, and the first leaf of the first collections.
    static func places(_ table: Table) throws -> [Place] {
        var leaves: [ClusterLeaf] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            if leaves.count > 1 { leaves.removeLast() }
            leaves.append(leaf)
        }
        return try leaves.flatMap { leaf in try table.columns.flatMap { try places($0, leaf, table) } }
    }

    static func places(_ column: Column, _ leaf: ClusterLeaf, _ table: Table) throws -> [Place] {
        let note = "\(table.name).\(column.name)"
        guard let collection = column.collection else {
            let ref = try leaf.node.requiredRef(column.leafIndex + 1, note)
            return [
                Place(leaf: ref, shape: column.elementShape, inCluster: true, enumeration: column.enumeration?.root, note: note)
            ]
        }
        var places: [Place] = []
        for row in 0..<min(leaf.count, 40) {
            let root = try leaf.collectionRoot(column, row: row)
            guard !root.isNone else { continue }
            guard collection == .dictionary else {
                places += try place(root, column.elementShape, leaf.space, note)
                continue
            }
            let top = try leaf.space.node(at: root)
            guard top.count == 2, !top.isInner else { continue }
            let keys = ElementShape(type: .string, isNullable: false)
            places += try place(try top.optionalRef(0, note), keys, leaf.space, note)
            places += try place(try top.optionalRef(1, note), .mixed, leaf.space, note)
        }
        return places
    }

    private static func place(_ root: Ref, _ shape: ElementShape, _ space: NodeSpace, _ note: String) throws -> [Place] {
        guard !root.isNone else { return [] }
        let tree = try BPlusTree(root: root, space: space, shape: shape)
        guard tree.count > 0 else { return [] }
        let place = try tree.place(of: tree.count - 1)
        return [Place(leaf: place.ref, shape: shape, inCluster: false, enumeration: nil, note: note)]
    }
}

/// Leaves of damaged files: an error or a change, never a crash.
@Suite struct LeafDamageTests {
    private static let mutationsPerFile = TestRun.isLong ? 600 : 60
    static let names = ["types-single", "types-list", "strings", "int-widths", "mixed", "enumerated", "types-dictionary"]

    @Test(arguments: names)
    func `Changes to damaged leaves end with an error at most`(_ name: String) throws {
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("leaf-damage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let kinds: [Damage] = [.flags, .oversizedCount, .byteNoise, .swappedRefs, .cycle, .bitFlips]
        for round in 0..<LeafDamageTests.mutationsPerFile {
            var generator = SeededGenerator(seed: UInt64(round) &+ 7919 &* UInt64(name.utf8.count))
            let path = folder.appendingPathComponent("\(round).realm").path
            let kind = kinds[round % kinds.count]
            try Data(kind.apply(to: original, using: &generator)).write(to: URL(fileURLWithPath: path))
            let start = ContinuousClock.now
            do {
                let snapshot = try Snapshot(file: try RealmFile(path: path))
                for table in snapshot.tables { LeafDamageTests.exercise(table, snapshot, round) }
            } catch {
                // The damage shows before anything is changed.
            }
            #expect(ContinuousClock.now - start < .seconds(20), "\(name), \(kind.rawValue), round \(round)")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    private static func exercise(_ table: Table, _ snapshot: Snapshot, _ round: Int) {
        var cursor = table.leaves()
        guard let leaf = try? cursor.next() else { return }
        let places = table.columns.flatMap { ((try? LeafFixtureTests.places($0, leaf, table)) ?? []).prefix(4) }
        for place in places {
            do {
                try change(place, snapshot, round)
            } catch is StorageError {
                continue
            } catch {
                Issue.record("an error of another kind: \(error)")
            }
        }
    }

    private static func change(_ place: LeafFixtureTests.Place, _ snapshot: Snapshot, _ round: Int) throws {
        let writes = WriteSpace(base: snapshot.space, arena: try NodeArena(byteCount: 1 << 28))
        let enumeration = place.enumeration.map { EnumerationWriter(writes, root: $0) }
        let writer = LeafWriter(writes, place.shape, inCluster: place.inCluster, enumeration: enumeration)
        var sampler = LeafSampler(place.shape, seed: UInt64(round))
        var leaf = place.leaf
        for step in 0..<8 {
            sampler.level = step
            let count = try writer.count(leaf)
            let sample = sampler.next()
            let row = sampler.roll(count + 1)
            switch step {
            case 0, 4: leaf = try writer.set(sample.value, at: row, in: leaf)
            case 1: leaf = try writer.erase(row, in: leaf)
            case 2:
                let (head, tail) = try writer.split(leaf, at: row)
                leaf = try writer.join(tail, with: head)
            default: leaf = try writer.insert(sample.value, at: row, in: leaf)
            }
            withExtendedLifetime(sample.storage) {}
        }
        try writer.discard(leaf)
    }
}
