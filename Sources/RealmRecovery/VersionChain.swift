// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The versions whose free space is known, and what they show of the commits between them: whether a commit can have written
/// somewhere.
///
/// A commit M writes only where version M − 1 has free space, and what it wrote is in use in version M. Source:
/// docs/recovery.md, "What is certain".
final class VersionChain {
    /// The effect of later commits on a node of a version.
    enum Survival: Equatable {
        /// No commit can have written there.
        case untouched
        /// It is not known.
        case maybe
        /// A version has written there.
        case gone(by: UInt64)
    }

    /// A commit as its neighbours show it.
    private struct Commit {
        /// The number of the version that it made.
        let number: UInt64
        /// The version before, if its free space is known.
        let before: FormerTop?
        /// The version that it made, if its free space is known.
        let after: FormerTop?

        /// Returns whether the commit has written into a range; nil when that is not known.
        func wrote(_ start: UInt64, _ end: UInt64) -> Bool? {
            let wasFree = before?.hasFree(start, end)
            if wasFree == false { return false }
            let isUsed = after?.uses(start, end)
            if isUsed == false { return false }
            return wasFree == true && isUsed == true ? true : nil
        }
    }

    /// The versions with known free space, by number.
    private var known: [UInt64: FormerTop] = [:]
    /// The numbers of the known versions, ascending.
    private let numbers: [UInt64]
    /// The number of the present version, or of the commit after it that was cut short.
    let horizon: UInt64
    /// The first version of the unbroken run of known versions that ends with the present one.
    let runStart: UInt64
    /// Counts the commits that are looked at.
    private let budget: SearchBudget
    /// The newest commits that anything is known of, ascending, and one for each gap.
    private var all: [Commit] = []
    /// The number of the first of these; 0 when they are all there are.
    private var oldest: UInt64 = 0
    /// The commits that have to do with nodes, as far as they were asked for.
    private var histories: [UInt64: History] = [:]

    /// The most commits that are looked at for a version.
    private static let maximumCommits = 4096
    /// The most nodes whose commits are kept.
    private static let maximumHistories = 1 << 21

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - tops: Tops whose numbers are those of versions; of two with one number the first counts.
    ///   - isCutShort: Whether a commit after the present version began to write and left no top.
    ///   - budget: Counts the commits that are looked at.
    init(_ tops: [FormerTop], present: FormerTop, isCutShort: Bool, budget: SearchBudget) {
        for top in tops where top.free != nil && known[top.number] == nil { known[top.number] = top }
        known[present.number] = present
        numbers = known.keys.sorted()
        let newest = max(numbers.last ?? present.number, present.number)
        horizon = isCutShort && newest == present.number ? present.number + 1 : newest
        var start = present.number
        while start > 0, known[start - 1] != nil { start -= 1 }
        runStart = start
        self.budget = budget
        listCommits()
    }

    /// Returns whether the commit that made version `number` has written into a range; nil when that is not known.
    func wrote(_ start: UInt64, _ end: UInt64, commit number: UInt64) -> Bool? {
        Commit(number: number, before: known[number &- 1], after: known[number]).wrote(start, end)
    }

    /// Returns the numbers of the commits that may have written over nodes of a version. The commits of a gap count once.
    func commits(after number: UInt64) -> [UInt64] {
        let first = number &+ 2
        guard first <= horizon else { return [] }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].number < first { low = middle + 1 } else { high = middle }
        }
        let rest = all[low...].map(\.number)
        return rest.first == first ? rest : [first] + rest
    }

    /// Lists the commits: space that a version uses cannot be written to by the commit after it, but by the next one.
    private func listCommits() {
        var last: UInt64?
        for version in numbers {
            for number in [version, version &+ 1, version &+ 2]
            where number > 0 && number <= horizon && last.map({ number > $0 }) ?? true {
                all.append(Commit(number: number, before: known[number - 1], after: known[number]))
                last = number
            }
        }
        guard all.count > VersionChain.maximumCommits else { return }
        all.removeFirst(all.count - VersionChain.maximumCommits)
        oldest = all[0].number
    }

    /// Returns what later commits did to a node of a version.
    func survival(_ ref: UInt64, _ byteCount: UInt64, in number: UInt64) -> Survival {
        guard number &+ 2 <= horizon else { return .untouched }
        let history = history(ref, byteCount)
        if history.lastWrite >= number &+ 2 { return .gone(by: history.lastWrite) }
        if history.lastUnknown >= number &+ 2 { return .maybe }
        // The next commit that may have written there may lie in a gap, or before the first one that is looked at.
        let isKnown = known[number &+ 1] != nil || known[number &+ 2] != nil
        return isKnown && number &+ 2 >= oldest ? .untouched : .maybe
    }

    /// The commits that have to do with a node.
    private struct History {
        /// The newest commit that has written there; 0 for none.
        var lastWrite: UInt64 = 0
        /// The newest commit of which it is not known; 0 for none.
        var lastUnknown: UInt64 = 0
    }

    /// Returns the commits that have to do with a node.
    private func history(_ ref: UInt64, _ byteCount: UInt64) -> History {
        if let history = histories[ref] { return history }
        var history = History()
        budget.spend(all.count / 16)
        for commit in all.reversed() {
            switch commit.wrote(ref, ref + byteCount) {
            case true?: history.lastWrite = max(history.lastWrite, commit.number)
            case nil: history.lastUnknown = max(history.lastUnknown, commit.number)
            case false?: continue
            }
            // Versions before a commit that has written have lost the node, whatever else is not known.
            if history.lastWrite > 0 { break }
        }
        if histories.count >= VersionChain.maximumHistories { histories.removeAll(keepingCapacity: true) }
        histories[ref] = history
        return history
    }
}
