// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The objects that the steps of key paths lead to in one range.
///
/// Each distinct set of objects has a number, so that chains that end alike, or come to the same objects, are evaluated once from there
/// on. It is used on the thread of the hub only.
final class StepHits {
    /// The key of a result within the range.
    enum Place: Hashable {
        /// A step to objects with this number, and whether it is the last one of its chain where that matters.
        case step(KeyPathFilter.Step, Int, isEnd: Bool)
        /// The start of a chain at objects of a class, with this number.
        case start(TableKey, Int)

        /// The number of the objects that the result is made from.
        fileprivate var objects: Int {
            switch self {
            case .step(_, let number, _), .start(_, let number): return number
            }
        }
    }

    /// The number of the set without objects.
    static let nothing = 0

    /// The sets by their numbers.
    private(set) var sets: [Set<ObjectKey>] = [[]]
    private var numbers: [Set<ObjectKey>: Int] = [[]: StepHits.nothing]
    /// The numbers of the results so far.
    private var results: [Place: Int] = [:]

    /// Returns the number of the result at a place, which is found if it is not known yet.
    ///
    /// - Parameters:
    ///   - place: The key of the result within the range.
    func result(
        of place: Place, _ find: (Set<ObjectKey>) throws(StorageError) -> Set<ObjectKey>
    ) throws(StorageError) -> Int {
        if let known = results[place] { return known }
        let number = number(of: try find(sets[place.objects]))
        results[place] = number
        return number
    }

    /// Returns the number of a set, which may be new.
    private func number(of set: Set<ObjectKey>) -> Int {
        if let known = numbers[set] { return known }
        let number = sets.count
        sets.append(set)
        numbers[set] = number
        return number
    }
}
