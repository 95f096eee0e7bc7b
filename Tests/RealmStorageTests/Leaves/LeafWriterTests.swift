// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct LeafWriterTests {
    struct Shape: CustomTestStringConvertible {
        let shape: ElementShape
        let inCluster: Bool
        var testDescription: String { "\(shape.type)\(shape.isNullable ? "?" : "") \(inCluster ? "in a cluster" : "")" }
    }

    static let shapes: [Shape] = ColumnType.allCases.filter { $0 != .backlink }.flatMap { type -> [Shape] in
        switch type {
        case .mixed: return [true, false].map { Shape(shape: .mixed, inCluster: $0) }
        case .link:
            let table = TableKey(3)
            return [
                Shape(shape: ElementShape(type: .link, isNullable: true, targetTable: table), inCluster: true),
                Shape(shape: ElementShape(type: .link, isNullable: false, targetTable: table), inCluster: false),
            ]
        default:
            return [false, true].map { Shape(shape: ElementShape(type: type, isNullable: $0), inCluster: true) }
        }
    }

    @Test(arguments: shapes)
    func `A leaf behaves like an array, from the first value on`(_ shape: Shape) throws {
        for seed in 1...(TestRun.isLong ? 60 : 6) {
            let scratch = try WriteScratch()
            var rig = try LeafRig(
                scratch.writes, shape.shape, inCluster: shape.inCluster, seed: seed, note: shape.testDescription)
            // Half of the runs meet all widths at once, the others one after another.
            rig.sampler.level = seed % 2 == 0 ? 8 : 0
            for step in 0..<240 {
                if step % 25 == 24, rig.sampler.level < 8 { rig.sampler.level += 1 }
                try rig.step()
                if step % 8 == 0 { try rig.check(step) }
            }
            try rig.check(240)
            try rig.finish()
        }
    }

    @Test(arguments: shapes)
    func `A leaf of default values holds the default of its type`(_ shape: Shape) throws {
        for count in [0, 1, 7, 8, 9, 256] {
            let scratch = try WriteScratch()
            let writer = LeafWriter(scratch.writes, shape.shape, inCluster: shape.inCluster)
            guard shape.inCluster || shape.shape.type != .link || count == 0 else { continue }
            let leaf = try writer.makeDefaults(count: count)
            let rig = try LeafRig(
                scratch.writes, shape.shape, inCluster: shape.inCluster, leaf: leaf, seed: 1, note: shape.testDescription)
            #expect(rig.model == Array(repeating: LeafSample.text(writer.defaultValue), count: count))
            #expect(writer.defaultValue.isNull == (shape.shape.isNullable || shape.shape.type == .link))
        }
    }
}

/// A transaction over a fixture that is never committed.
struct WriteScratch {
    let snapshot: Snapshot
    let writes: WriteSpace

    init(_ fixture: String = "store") throws {
        snapshot = try Snapshot(file: try RealmFile(path: try Fixtures.path(fixture)))
        writes = WriteSpace(base: snapshot.space, arena: try NodeArena(byteCount: 1 << 28))
    }
}
