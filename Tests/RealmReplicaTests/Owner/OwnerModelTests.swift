// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RealmReplica

/// Every order in which owners, a log and its failovers can meet, within bounds. The test of the test are logs and owners with
/// flaws that are known from others: each has to be found.
@Suite("The owner, in all states")
struct OwnerModelTests {
    static let isLong = ProcessInfo.processInfo.environment["REALM_REST_LONG_TESTS"] != nil

    /// Small enough for every run; each has other faults.
    static let budgets = [
        ModelBudget(writes: 2, claims: 2, lost: 0, unsent: 0, deadlines: 1, crashes: 0, cancels: 1, failovers: 1, prunes: 0),
        ModelBudget(writes: 2, claims: 2, lost: 1, unsent: 1, deadlines: 1, crashes: 0, cancels: 0, failovers: 0, prunes: 0),
        ModelBudget(writes: 2, claims: 3, lost: 1, unsent: 0, deadlines: 0, crashes: 0, cancels: 0, failovers: 0, prunes: 1),
        ModelBudget(writes: 1, claims: 2, lost: 1, unsent: 0, deadlines: 1, crashes: 1, cancels: 0, failovers: 1, prunes: 0),
        ModelBudget(
            writes: 2, claims: 2, lost: 0, unsent: 0, deadlines: 0, crashes: 1, cancels: 0, failovers: 1, prunes: 1, releases: 1),
    ]

    @Test(arguments: budgets.indices) func `two owners, with some of the faults`(number: Int) {
        var checker = ModelChecker()
        #expect(checker.check(processes: 2, OwnerModelTests.budgets[number]) == nil)
        #expect(checker.acknowledgedCount > 1000 && checker.deniedCount > 10)
        print("two owners, \(number): \(checker.stateCount) states, \(checker.depth) steps deep")
    }

    @Test(.enabled(if: isLong)) func `two owners, with all faults`() {
        var checker = ModelChecker()
        #expect(checker.check(processes: 2, ModelBudget(writes: 2, claims: 2, lost: 1)) == nil)
        print("two owners: \(checker.stateCount) states, \(checker.depth) steps deep")
    }

    @Test(.enabled(if: isLong)) func `three owners`() {
        var checker = ModelChecker()
        let budget = ModelBudget(
            writes: 2, claims: 3, lost: 1, unsent: 0, deadlines: 0, crashes: 0, cancels: 0, failovers: 0, prunes: 0)
        #expect(checker.check(processes: 3, budget) == nil)
        print("three owners: \(checker.stateCount) states, \(checker.depth) steps deep")
    }

    /// A fence of records alone holds until records are pruned: then the number of the old owner is free again.
    @Test func `pruning frees the number of a fence that looks at records`() {
        func check(prunes: UInt8) -> String? {
            var checker = ModelChecker(.fenceOfRecords)
            checker.ignoresDenied = true
            return checker.check(
                processes: 2,
                ModelBudget(
                    writes: 2, claims: 2, lost: 0, unsent: 0, deadlines: 0, crashes: 0, cancels: 0, failovers: 0, prunes: prunes),
                isFair: false)
        }
        #expect(check(prunes: 0) == nil)
        #expect(check(prunes: 1)?.contains("acknowledged") == true)
    }

    @Test(arguments: ModelFlaw.allCases) func `a flaw is found`(flaw: ModelFlaw) {
        var checker = ModelChecker(flaw)
        let violation = checker.check(processes: 2, ModelBudget(writes: 2, claims: 2), isFair: false)
        #expect(violation != nil)
        print("\(flaw): found after \(checker.stateCount) states: \(violation?.split(separator: "\n").first ?? "")")
    }
}
