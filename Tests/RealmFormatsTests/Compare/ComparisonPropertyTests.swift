// SPDX-License-Identifier: Apache-2.0

import RealmEngine
@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// The sum is right: what differs between two random realms, applied to the first, makes the second.
@Suite struct ComparisonPropertyTests {
    private static let byKey = ComparisonOptions(identity: .objectKey)
    private static let byNodes = ComparisonOptions(identity: .objectKey, sharesNodes: true)
    private static let byContents = ComparisonOptions(identity: .contents)

    /// A copy of a version in a file of its own, with the same object keys.
    private static func copy(_ realm: EngineRealm, _ snapshot: Snapshot) throws -> (realm: EngineRealm, place: TemporaryRealm) {
        let place = try TemporaryRealm()
        let file = try NewFile(nextTo: place.path)
        try realm.database.writeCopy(of: snapshot, to: file.backend(), Database.CopyOptions(key: nil))
        try file.publish(as: place.path)
        return (try EngineRealm(path: place.path), place)
    }

    private static func fill(_ realm: EngineRealm, seed: UInt64, steps: Int) throws {
        try realm.write { session in
            var contents = RandomContents(seed: seed)
            try contents.change(session, steps: steps)
        }
    }

    /// Changes the schema and then the objects.
    private static func change(_ realm: EngineRealm, seed: UInt64, steps: Int, keepsKeys: Bool) throws {
        var contents = RandomContents(seed: seed)
        let migration = contents.migration(keepsKeys: keepsKeys)
        if !migration.isEmpty {
            try realm.write { session in
                _ = try session.migrate(Migration(from: 0, to: 1, migration, allowsDataLoss: true))
            }
        }
        try fill(realm, seed: seed &+ 1, steps: steps)
    }

    /// Applies the differences to a realm that holds the first version, and compares it with the second.
    private static func expectSum(
        _ list: DifferenceList, appliedTo first: EngineRealm, makes second: Snapshot, _ comment: Comment
    ) throws {
        let lines = list.lines
        try first.write { session in try DifferenceApplication.apply(lines, in: session) }
        let sum = first.database.current.snapshot
        #expect(SchemaDifference.all(from: RealmSchema(sum), to: RealmSchema(second)) == [], comment)
        let (found, expected) = (try RealmFingerprint(sum).objects, try RealmFingerprint(second).objects)
        #expect(found == expected, comment)
    }

    @Test(arguments: 0..<40)
    func `the differences of two versions of a file, applied to the first, make the second`(_ number: Int) throws {
        let seed = UInt64(number) &* 7919
        let realm = try EngineRealm(RandomContents.classes)
        try ComparisonPropertyTests.fill(realm, seed: seed, steps: 60)
        let first = realm.database.current
        try ComparisonPropertyTests.change(realm, seed: seed &+ 17, steps: number % 4 == 0 ? 0 : 40, keepsKeys: false)
        let second = realm.database.current
        let comment: Comment = "seed \(seed)"
        let list = try DifferenceList(first.snapshot, second.snapshot, ComparisonPropertyTests.byNodes)
        let plain = try DifferenceList(first.snapshot, second.snapshot, ComparisonPropertyTests.byKey)
        #expect(list.sorted == plain.sorted, comment)
        let back = try DifferenceList(second.snapshot, first.snapshot, ComparisonPropertyTests.byKey)
        #expect(back.sorted == list.turned, comment)
        for same in [first, second] {
            #expect(try DifferenceList(same.snapshot, same.snapshot, ComparisonPropertyTests.byNodes).lines.isEmpty, comment)
        }
        let (copy, place) = try ComparisonPropertyTests.copy(realm, first.snapshot)
        #expect(
            try DifferenceList(first.snapshot, copy.database.current.snapshot, ComparisonPropertyTests.byKey).lines.isEmpty,
            comment)
        try ComparisonPropertyTests.expectSum(list, appliedTo: copy, makes: second.snapshot, comment)
        try copy.finish()
        try realm.finish()
        withExtendedLifetime(place) {}
    }

    @Test(arguments: 0..<40)
    func `the differences of two files, applied to the first, make the second`(_ number: Int) throws {
        let seed = UInt64(number) &* 104_729
        let (one, other) = (try EngineRealm(RandomContents.classes), try EngineRealm(RandomContents.classes))
        try ComparisonPropertyTests.fill(one, seed: seed, steps: 60)
        // The same objects in another order at times, and others besides.
        try ComparisonPropertyTests.fill(other, seed: number % 2 == 0 ? seed : seed &+ 5, steps: 50)
        try ComparisonPropertyTests.change(other, seed: seed &+ 29, steps: 15, keepsKeys: false)
        let (first, second) = (one.database.current, other.database.current)
        let comment: Comment = "seed \(seed)"
        let list = try DifferenceList(first.snapshot, second.snapshot, ComparisonPropertyTests.byContents)
        let back = try DifferenceList(second.snapshot, first.snapshot, ComparisonPropertyTests.byContents)
        #expect(back.sorted == list.turned, comment)
        let (copy, place) = try ComparisonPropertyTests.copy(one, first.snapshot)
        #expect(
            try DifferenceList(first.snapshot, copy.database.current.snapshot, ComparisonPropertyTests.byContents).lines.isEmpty,
            comment)
        try ComparisonPropertyTests.expectSum(list, appliedTo: copy, makes: second.snapshot, comment)
        try copy.finish()
        try one.finish()
        try other.finish()
        withExtendedLifetime(place) {}
    }
}
