// SPDX-License-Identifier: Apache-2.0

import RealmReplica

/// How many faults and steps of a kind may still happen.
struct ModelBudget: Hashable {
    var writes: UInt8 = 3
    var claims: UInt8 = 3
    var lost: UInt8 = 2
    var unsent: UInt8 = 1
    var deadlines: UInt8 = 1
    var crashes: UInt8 = 1
    var cancels: UInt8 = 1
    var failovers: UInt8 = 1
    var prunes: UInt8 = 1
    var releases: UInt8 = 0
}

/// A process that owns the realm, did, or will.
struct ModelProcess: Hashable {
    var machine: OwnerMachine?
    var incarnation: UInt8 = 0
    /// What is to be sent next, unless a deadline comes first.
    var next: LogRequest?
    /// Whether a request was sent whose reply is awaited.
    var isWaiting = false
    /// The write that waits for its outcome.
    var value: UInt8 = 0
    /// What its file shows.
    var file: [UInt8] = []
}

/// What the checker does next.
enum ModelStep: Hashable {
    case open(Int), write(Int), release(Int), send(Int), deadline(Int), lose(Int), drop(Int), crash(Int)
    case deliver(Int), finish(Int), cancel(Int), prune
    case failover(keepsRunning: Bool, keepsVisible: Bool)
}

/// Processes, the log, and what is on its way between them.
struct ModelState: Hashable {
    var processes: [ModelProcess]
    var server = ModelServer()
    var network: [ModelMessage] = []
    var budget: ModelBudget
    var lastWrite: UInt8 = 0
    var lastIncarnation: UInt8 = 0
    /// The writes that were acknowledged, with their versions.
    var acknowledged: [UInt8: UInt8] = [:]
    /// The writes of which it was said that they are not stored and never will be.
    var denied: Set<UInt8> = []

    init(processes: Int, _ budget: ModelBudget) {
        self.processes = Array(repeating: ModelProcess(), count: processes)
        self.budget = budget
    }

    /// What is wrong; nil when nothing is.
    var violation: String? {
        if let loss { return loss }
        let logs = [server.durable, server.visible] + server.running.map(\.result)
        for value in denied where logs.contains(where: { $0.values.contains(value) }) {
            return "write \(value) was denied, and is stored"
        }
        return nil
    }

    /// What was acknowledged or shown and is not in the log; nil when nothing is.
    var loss: String? {
        for (value, version) in acknowledged where !server.durable.values.indices.contains(Int(version) - 2) {
            return "write \(value), acknowledged as version \(version), is lost"
        }
        for (value, version) in acknowledged where server.durable.values[Int(version) - 2] != value {
            return "write \(value), acknowledged as version \(version), is not what the log has"
        }
        for process in processes where !server.durable.values.starts(with: process.file) {
            return "a file shows \(process.file), and the log has \(server.durable.values)"
        }
        return nil
    }
}
