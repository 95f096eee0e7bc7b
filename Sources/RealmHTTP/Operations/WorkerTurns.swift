// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Jobs that wait for a worker, by client. Clients take turns, and each has a bounded number of jobs that run and wait.
struct WorkerTurns {
    typealias Job = WorkerPool.Job

    private struct Client {
        var jobs: Deque<Job> = []
        var running = 0
        /// Whether it stands in `turns`.
        var isInTurns = false
    }

    private let size: WorkerPool.Size
    private var clients: [String: Client] = [:]
    /// Clients that have a job and may run another, in their order.
    private var turns: Deque<String> = []
    private(set) var waiting = 0
    /// Jobs that could be running if there were threads enough.
    private(set) var startable = 0

    /// No jobs, and bounds for those to come.
    init(_ size: WorkerPool.Size) { self.size = size }

    /// Adds a job; false when too many are waiting. What was admitted before is never refused.
    mutating func add(_ job: @escaping Job, of name: String, isAdmitted: Bool) -> Bool {
        let own = clients[name]?.jobs.count ?? 0
        guard isAdmitted || (waiting < size.queue && own < size.queuePerClient) else { return false }
        waiting += 1
        change(name) { $0.jobs.append(job) }
        return true
    }

    /// The job whose turn it is, with the name of its client; nil when there is none, or every client has its share of
    /// threads.
    mutating func take() -> (client: String, job: Job)? {
        guard let name = turns.popFirst() else { return nil }
        clients[name]?.isInTurns = false
        var job: Job?
        change(name) { client in
            job = client.jobs.popFirst()
            client.running += 1
        }
        waiting -= 1
        return job.map { (name, $0) }
    }

    /// A job of this client is done.
    mutating func finish(_ name: String) {
        change(name) { $0.running -= 1 }
    }

    /// Whether a client has jobs that wait or run.
    func has(_ name: String) -> Bool { clients[name] != nil }

    /// Drops all jobs that wait.
    mutating func removeAll() { self = WorkerTurns(size) }

    /// Changes a client, and keeps what is known of all clients in step with it.
    private mutating func change(_ name: String, _ body: (inout Client) -> Void) {
        var client = clients.removeValue(forKey: name) ?? Client()
        startable -= share(client)
        body(&client)
        let share = share(client)
        startable += share
        if share > 0, !client.isInTurns {
            client.isInTurns = true
            turns.append(name)
        }
        if !client.jobs.isEmpty || client.running > 0 { clients[name] = client }
    }

    /// How many more jobs of a client could run now.
    private func share(_ client: Client) -> Int { min(client.jobs.count, max(0, size.threadsPerClient - client.running)) }
}
