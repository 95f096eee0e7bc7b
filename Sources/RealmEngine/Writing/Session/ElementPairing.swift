// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Finds out which elements of a list that is assigned as a whole are elements that it had before.
///
/// An element that is equal to a former one is that one, wherever it stands now. One that differs is the former one that was
/// changed, if both stand between the same neighbours and as many stand there as before. Any other is new.
///
/// Equal elements are matched by position: from both ends of the list, or index by index if the length is unchanged.
struct ElementPairing {
    /// For each new element the former one that it is; nil for an element that was not there.
    private(set) var former: [Int?]
    /// For each former element, whether a new one is the same.
    private(set) var isKept: [Bool]
    /// Whether some element was not there before.
    var hasNew: Bool { former.contains(nil) }

    /// Compares the elements of a list before and after an assignment.
    ///
    /// - Parameters:
    ///   - hashes: Returns a number for each new and for each former element, which is the same for equal ones. It is called if elements
    ///     were moved.
    ///   - isSame: Returns whether a new element is equal to a former one.
    /// - Complexity: Linear in the number of elements, if few have the same number.
    init(
        _ count: Int, formerCount: Int, hashes: () throws(WriteError) -> (new: [Int], former: [Int]),
        isSame: (_ new: Int, _ former: Int) throws(WriteError) -> Bool
    ) throws(WriteError) {
        former = Array(repeating: nil, count: count)
        isKept = Array(repeating: false, count: formerCount)
        if count == formerCount {
            for index in 0..<count where try isSame(index, index) { keep(index, as: index) }
        } else {
            var first = 0
            while first < min(count, formerCount), try isSame(first, first) {
                keep(first, as: first)
                first += 1
            }
            var last = 1
            while last <= min(count, formerCount) - first, try isSame(count - last, formerCount - last) {
                keep(formerCount - last, as: count - last)
                last += 1
            }
        }
        try pairMoved(hashes, isSame)
        pairChanged()
    }

    /// Notes that a new element is a former one.
    private mutating func keep(_ index: Int, as new: Int) {
        former[new] = index
        isKept[index] = true
    }

    /// Pairs elements that are equal and stand at different places.
    private mutating func pairMoved(
        _ hashes: () throws(WriteError) -> (new: [Int], former: [Int]), _ isSame: (Int, Int) throws(WriteError) -> Bool
    ) throws(WriteError) {
        guard former.contains(nil), isKept.contains(false) else { return }
        let hashes = try hashes()
        var candidates: [Int: [Int]] = [:]
        for index in isKept.indices where !isKept[index] { candidates[hashes.former[index], default: []].append(index) }
        for new in former.indices where former[new] == nil {
            let hash = hashes.new[new]
            for index in candidates[hash] ?? [] where !isKept[index] {
                guard try isSame(new, index) else { continue }
                keep(index, as: new)
                break
            }
        }
    }

    /// Pairs elements that were changed: those between the same neighbours, if there are as many as before.
    private mutating func pairChanged() {
        var first = 0
        while first < former.count {
            guard former[first] == nil else {
                first += 1
                continue
            }
            var end = first
            while end < former.count, former[end] == nil { end += 1 }
            let begin = first > 0 ? former[first - 1].map { $0 + 1 } ?? 0 : 0
            let stop = end < former.count ? former[end] ?? isKept.count : isKept.count
            if stop - begin == end - first, !isKept[begin..<stop].contains(true) {
                for offset in 0..<(end - first) { keep(begin + offset, as: first + offset) }
            }
            first = end
        }
    }
}
