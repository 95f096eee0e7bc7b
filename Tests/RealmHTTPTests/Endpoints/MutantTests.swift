// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmMutants
import RealmServerSupport
import RealmTestSupport
import Testing

/// A few of the trials that `make fuzz ONLY=Mutants` makes by the thousand: whole requests about files that are damaged where
/// somebody would follow it.
@Suite("Damaged files behind requests", .serialized, .ownThread)
struct MutantTests {
    private static let trialsPerFile = TestRun.isLong ? 100 : 6
    /// A few are enough where nobody waits for all.
    private static let fixtures = Fixtures.shortNames.filter {
        TestRun.isLong || ["links", "lists", "mixed", "embedded"].contains($0)
    }

    @Test(arguments: fixtures)
    func `are answered or refused, and never show what is in another realm`(_ name: String) throws {
        let folder = NSTemporaryDirectory() + "mutants-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path(name))))
        let trial = try MutantTrial(folder: folder)
        try trial.setOriginal(original)
        for round in 0..<MutantTests.trialsPerFile {
            let parts: Set<StructuralDamage.Part>? = round % 2 == 0 ? [.cluster, .index, .tombstones] : nil
            let seed = UInt64(round) &+ 77
            let form = MutantTrial.Form(format: round % 6 == 5 ? 22 : nil, isEncrypted: round % 6 == 4)
            let start = ContinuousClock.now
            let outcome = try trial.run(StructuralDamage(original, parts: parts).apply(seed: seed).bytes, form)
            let elapsed = ContinuousClock.now - start
            #expect(outcome.faults.isEmpty, "\(name), seed \(seed): \(outcome.faults.prefix(3))")
            #expect(elapsed < .seconds(60), "\(name), seed \(seed): took \(elapsed)")
        }
    }
}
