// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The jobs that wait for a worker, by client.
///
/// Clients take turns: each turn gives one job. The number of jobs that run and that wait is
/// limited for each client. `WorkerPool` guards it with its lock.
struct WorkerTurns {
    /// A piece of work, called once on a worker.
    package typealias Job = WorkerPool.Job

    /// The jobs of one client that wait for a worker, and the number of those that run.
    private struct Client {
        /// The waiting jobs of a client, the oldest first.
        var jobs: Deque<Job> = []
        /// The number of jobs of a client that run.
        var running = 0
        /// Whether the client is in the list of clients whose turn comes.
        var isInTurns = false
    }

    /// The limits of the worker pool.
    private let size: WorkerPool.Size
    /// The clients that have jobs that wait for a worker or run.
    private var clients: [ByteText: Client] = [:]
    /// The clients that have a waiting job and may run another, in the order of their turns.
    private var turns: Deque<String> = []
    /// The number of jobs of all clients that wait for a worker.
    package private(set) var waiting = 0
    /// The number of waiting jobs that could run at once if there were enough threads.
    package private(set) var startable = 0

    /// Makes an empty set of jobs with the limits of a pool.
    package init(_ size: WorkerPool.Size) { self.size = size }

    /// Adds a job.
    ///
    /// - Parameters:
    ///   - name: The client.
    ///   - isAdmitted: Whether it continues work that was admitted before, so that it is never
    ///     refused.
    /// - Returns: False when the client, or all clients together, have too many waiting jobs.
    package mutating func add(_ job: @escaping Job, of name: String, isAdmitted: Bool) -> Bool {
        let own = clients[name]?.jobs.count ?? 0
        guard isAdmitted || (waiting < size.queue && own < size.queuePerClient) else { return false }
        waiting += 1
        change(name) { $0.jobs.append(job) }
        return true
    }

    /// Removes the job whose turn it is.
    ///
    /// - Returns: The job and its client; nil when no job waits, or every client with waiting jobs
    ///   occupies its share of the threads.
    package mutating func dequeue() -> (client: String, job: Job)? {
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

    /// Records that a job of a client has ended, so that another of its jobs may run.
    package mutating func finish(_ name: String) {
        change(name) { $0.running -= 1 }
    }

    /// Whether a client has jobs that wait or run.
    package func has(_ name: String) -> Bool { clients[name] != nil }

    /// Drops all jobs that wait for a worker.
    package mutating func removeAll() { self = WorkerTurns(size) }

    /// Changes a client, and keeps `startable`, `turns` and `clients` consistent with it.
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

    /// The number of waiting jobs of a client that may run at once.
    private func share(_ client: Client) -> Int { min(client.jobs.count, max(0, size.threadsPerClient - client.running)) }
}
