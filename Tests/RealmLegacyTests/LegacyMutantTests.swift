// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmLegacy
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// A damaged old file is an error or a file, never a crash or an endless walk.
@Suite struct LegacyMutantTests {
    /// What is done with each damaged file.
    private static func examine(_ path: String, key: EncryptionKey? = nil) throws -> Bool {
        do throws(StorageError) {
            let file = try LegacyFile(path: path, key: key)
            _ = try file.verify()
            let new = try NewFile(nextTo: path)
            _ = try file.convert(to: new)
            let snapshot = try Snapshot(file: try RealmFile(path: new.openPath))
            let report = snapshot.verify()
            #expect(report.errors == [], "what was converted is sound")
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: LegacyFixtures.smallNames)
    func `a file with damaged nodes is an error or is converted`(_ name: String) throws {
        let damage = StructuralDamage(try LegacyFixtures.bytes(name))
        let key = try LegacyFixtures.key(name)
        for seed in 0..<UInt64(LegacyMutantTests.count) {
            let mutant = damage.apply(seed: seed)
            let time = try ContinuousClock().measure {
                try LegacyFixtures.withFile(mutant.bytes) { path in _ = try LegacyMutantTests.examine(path, key: key) }
            }
            #expect(time < .seconds(10), "seed \(seed) of \(name): \(mutant.log)")
        }
    }

    @Test(arguments: LegacyFixtures.smallNames)
    func `a file with changed bytes is an error or is converted`(_ name: String) throws {
        let original = try LegacyFixtures.bytes(name)
        let key = try LegacyFixtures.key(name)
        for seed in 0..<UInt64(LegacyMutantTests.count) {
            var generator = SeededGenerator(seed: seed)
            var bytes = original
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if seed % 7 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            let time = try ContinuousClock().measure {
                try LegacyFixtures.withFile(bytes) { path in _ = try LegacyMutantTests.examine(path, key: key) }
            }
            #expect(time < .seconds(10), "seed \(seed) of \(name)")
        }
    }

    /// How many mutants of each file there are; `LEGACY_MUTANTS` sets another number.
    private static let count =
        ProcessInfo.processInfo.environment["LEGACY_MUTANTS"].flatMap { Int($0) } ?? (TestRun.isLong ? 30 : 15)
}
