// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import Synchronization

/// Guesses where the object with an integer primary key is, from where the last one was found that had to be looked up in the index.
///
/// Object keys and primary keys often count up together, and then all objects are at one distance from their primary keys. What is guessed
/// has to be compared with the object. After wrong guesses no more are made until objects are found at one distance again.
///
/// Threads share it without a lock. They may overwrite what another one has noted, which costs a guess at most.
final class PrimaryKeyGuess: Sendable {
    /// What is added to a primary key to get the object key; `unknown` before the first object.
    private let distance = Atomic<Int64>(PrimaryKeyGuess.unknown)
    /// How far guesses can be relied on: they are made from 0 on.
    private let trust = Atomic<Int>(0)

    private static let unknown = Int64.min
    /// How many objects have to be found at one distance after a wrong guess.
    private static let penalty = 16

    /// Returns the key of the object that has a primary key, if that can be guessed.
    func objectKey(of primaryKey: Int64) -> ObjectKey? {
        let distance = distance.load(ordering: .relaxed)
        guard distance != PrimaryKeyGuess.unknown, trust.load(ordering: .relaxed) >= 0 else { return nil }
        let (key, isTooLarge) = primaryKey.addingReportingOverflow(distance)
        return isTooLarge || key < 0 ? nil : ObjectKey(key)
    }

    /// Notes that the object that was guessed has another primary key.
    func wasWrong() { trust.store(-PrimaryKeyGuess.penalty, ordering: .relaxed) }

    /// Notes an object that was found in the index.
    func note(_ key: ObjectKey, hasPrimaryKey primaryKey: Int64) {
        let (found, isTooLarge) = key.rawValue.subtractingReportingOverflow(primaryKey)
        guard !isTooLarge else { return }
        guard found == distance.load(ordering: .relaxed) else { return distance.store(found, ordering: .relaxed) }
        let present = trust.load(ordering: .relaxed)
        if present < 0 { trust.store(present + 1, ordering: .relaxed) }
    }
}
