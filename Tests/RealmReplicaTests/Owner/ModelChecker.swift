// SPDX-License-Identifier: Apache-2.0

@testable import RealmReplica

/// Visits every state that can be reached, breadth first, and stops at the first that is wrong. States are known by their
/// hashes, so two of a hundred thousand millions might be taken for one.
struct ModelChecker {
    let flaw: ModelFlaw?
    /// Looks only at what was acknowledged and shown.
    var ignoresDenied = false
    private(set) var stateCount = 0
    private(set) var depth = 0
    /// How often each outcome of a step was seen, to show that the checker gets anywhere.
    private(set) var acknowledgedCount = 0
    private(set) var deniedCount = 0
    /// How a state was reached first.
    private var origins: [Int: (before: Int, step: ModelStep)] = [:]
    /// States without faults ahead from which a write succeeds. Many states differ only in their budgets.
    private var unstuck: Set<Int> = []

    init(_ flaw: ModelFlaw? = nil) { self.flaw = flaw }

    /// What is wrong, and the steps that lead there; nil when nothing is.
    mutating func check(processes: Int, _ budget: ModelBudget, isFair: Bool = true) -> String? {
        let start = ModelState(processes: processes, budget)
        var frontier = [(state: start, hash: start.hashValue)]
        var seen: Set<Int> = [start.hashValue]
        while !frontier.isEmpty {
            var next: [(state: ModelState, hash: Int)] = []
            for (state, hash) in frontier {
                stateCount += 1
                acknowledgedCount += state.acknowledged.count
                deniedCount += state.denied.count
                if isFair, let stuck = self.stuck(state) { return explain(stuck, hash) }
                for step in state.steps(flaw) {
                    var after = state
                    after.take(step, flaw)
                    let known = after.hashValue
                    guard seen.insert(known).inserted else { continue }
                    origins[known] = (hash, step)
                    if let violation = ignoresDenied ? after.loss : after.violation { return explain(violation, known) }
                    next.append((after, known))
                }
            }
            frontier = next
            depth += 1
        }
        return nil
    }

    private func explain(_ violation: String, _ end: Int) -> String {
        var steps: [String] = []
        var hash = end
        while let origin = origins[hash] {
            steps.append("\(origin.step)")
            hash = origin.before
        }
        return violation + "\n" + steps.reversed().joined(separator: "\n")
    }

    /// Why a write cannot succeed from a state on, although nothing fails any more; nil when it can.
    private mutating func stuck(_ state: ModelState) -> String? {
        var state = state
        state.budget = ModelBudget(
            writes: 0, claims: 0, lost: 0, unsent: 0, deadlines: 0, crashes: 0, cancels: 0, failovers: 0, prunes: 0, releases: 0)
        guard unstuck.insert(state.hashValue).inserted else { return nil }
        guard ModelChecker.settle(&state) else { return "the processes go on for ever" }
        let before = state.acknowledged.count
        if state.processes[0].machine == nil {
            state.open(0)
            guard ModelChecker.settle(&state) else { return "a claim goes on for ever" }
        }
        // A process that was fenced finds out by its first write; its second one is made by another opening.
        for _ in 0..<2 where state.acknowledged.count == before {
            if state.processes[0].machine == nil {
                state.open(0)
                guard ModelChecker.settle(&state) else { return "a claim goes on for ever" }
            }
            state.write(0, nil)
            guard ModelChecker.settle(&state) else { return "a write goes on for ever" }
        }
        if let violation = state.violation { return violation }
        return state.acknowledged.count > before ? nil : "no write can succeed"
    }

    /// Lets everything happen that is on its way; false when there is no end of it.
    private static func settle(_ state: inout ModelState) -> Bool {
        for _ in 0..<60 {
            guard let step = state.steps(nil).first else { return true }
            state.take(step, nil)
        }
        return false
    }
}
