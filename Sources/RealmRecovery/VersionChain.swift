// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The versions whose free space is known, and what they show of the commits between them: whether a commit can have written
/// somewhere.
///
/// A commit M writes only where version M − 1 has free space, and what it wrote is in use in version M. Source:
/// docs/recovery.md, "What is
/// certain".
final class VersionChain {
    /// What later commits did to a node of a version.
    enum Fate: Equatable {
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
    /// The commits after a version, as far as they were asked for.
    private var commits: [UInt64: [Commit]] = [:]
    /// The fates that were asked for.
    private var fates: [FateQuestion: Fate] = [:]

    /// The most commits that are looked at for a version.
    private static let maximumCommits = 4096
    /// The most fates that are kept.
    private static let maximumFates = 1 << 20

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - tops: Tops whose numbers are those of versions; of two with one number the first counts.
    ///   - present: The top of the present version.
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
    }

    /// Returns whether the commit that made version `number` has written into a range; nil when that is not known.
    func wrote(_ start: UInt64, _ end: UInt64, commit number: UInt64) -> Bool? {
        Commit(number: number, before: known[number &- 1], after: known[number]).wrote(start, end)
    }

    /// The numbers of the commits that may have written over nodes of a version. Those of a gap of which nothing is known count
    /// once.
    func commits(after number: UInt64) -> [UInt64] { list(after: number).map(\.number) }

    /// Returns the commits from `number + 2` on: the space that a version uses cannot be written to by the commit after it.
    private func list(after number: UInt64) -> [Commit] {
        if let list = commits[number] { return list }
        var list: [Commit] = []
        let first = number &+ 2
        var last: UInt64?
        func add(_ candidate: UInt64) {
            guard candidate >= first, candidate <= horizon, last.map({ candidate > $0 }) ?? true else { return }
            list.append(Commit(number: candidate, before: known[candidate - 1], after: known[candidate]))
            last = candidate
        }
        add(first)
        for version in numbers where version &+ 2 >= first {
            for candidate in [version, version + 1, version + 2] { add(candidate) }
            if list.count >= VersionChain.maximumCommits { break }
        }
        if list.count > VersionChain.maximumCommits { list.removeLast(list.count - VersionChain.maximumCommits) }
        budget.spend(list.count / 64)
        commits[number] = list
        return list
    }

    /// Returns what later commits did to a node of a version.
    func fate(_ ref: UInt64, _ byteCount: UInt64, in number: UInt64) -> Fate {
        let question = FateQuestion(ref: ref, version: number)
        if let fate = fates[question] { return fate }
        let list = list(after: number)
        budget.spend(list.count / 16)
        var fate = Fate.untouched
        for commit in list {
            switch commit.wrote(ref, ref + byteCount) {
            case true?:
                fate = .gone(by: commit.number)
            case nil:
                fate = .maybe
                continue
            case false?: continue
            }
            break
        }
        // Commits beyond those that are looked at may have written anywhere.
        if list.count >= VersionChain.maximumCommits, fate == .untouched { fate = .maybe }
        if fates.count >= VersionChain.maximumFates { fates.removeAll(keepingCapacity: true) }
        fates[question] = fate
        return fate
    }

    /// A node of a version.
    private struct FateQuestion: Hashable {
        /// The offset of the node, which decides its size.
        let ref: UInt64
        /// The number of the version.
        let version: UInt64
    }
}
