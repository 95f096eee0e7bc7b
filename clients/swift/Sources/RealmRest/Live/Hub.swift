/// All that is live in one realm.
actor Hub {
    let transport: Transport
    let path: String
    let options: LiveOptions
    private var channels: [Channel] = []
    /// How many subscriptions the server takes in one registration, once it has said so.
    private var names: Int?
    private var waiting: [any Observed] = []
    private var isGathering = false
    private var isClosed = false

    init(transport: Transport, path: String, options: LiveOptions) {
        self.transport = transport
        self.path = path
        self.options = options
    }

    /// Follows a subscription, and waits until it has its contents.
    func begin<Contents, Change>(_ core: LiveCore<Contents, Change>, timeout: Double) async throws {
        enlist([core])
        do {
            try await withTimeout(timeout) {
                try await core.until { status, _ in status.state == .live || status.isDeleted }
            }
            if core.status.isDeleted {
                throw LiveEnded(reason: "the object was deleted before it could be followed", problem: nil)
            }
        } catch {
            let cause = core.status.error
            await end(core)
            // Why it could not begin says more than that the time is over.
            throw error is TimeoutError ? cause ?? ConnectionLost(timeout: "the subscription did not begin in time") : error
        }
    }

    /// Takes up new subscriptions; those of the same moment share a registration.
    func enlist(_ observed: [any Observed]) {
        guard !isClosed else {
            for one in observed { one.end(LiveEnded(reason: "the client is closed", problem: nil)) }
            return
        }
        waiting += observed
        guard !isGathering else { return }
        isGathering = true
        Task {
            // As long as more keep coming, but not for ever.
            var (known, turns) = (-1, 0)
            while waiting.count != known, turns < 20 {
                (known, turns) = (waiting.count, turns + 1)
                try? await Task.sleep(for: .seconds(options.gather))
            }
            await flush()
        }
    }

    /// Stops following.
    func end(_ observed: any Observed) async {
        observed.end(nil)
        waiting.removeAll { $0 === observed }
        for channel in channels { await channel.remove(observed) }
    }

    /// Asks whether the newest version has changes; if not, that version is reached.
    func nudge(_ observed: any Observed) async {
        for channel in channels where await channel.carries(observed) {
            await channel.nudge()
            return
        }
    }

    func retire(_ channel: Channel) { channels.removeAll { $0 === channel } }

    /// The server takes no more than this in one registration.
    func learn(names limit: Int, spilled: [any Observed]) {
        names = limit
        enlist(spilled)
    }

    var channelCount: Int { channels.count }
    var isPolling: Bool { get async { for channel in channels where await channel.isPolling { return true }; return false } }
    var registrations: [String] {
        get async {
            var all: [String] = []
            for channel in channels { if let id = await channel.registration { all.append(id) } }
            return all
        }
    }

    func close() async {
        isClosed = true
        var ended = waiting
        waiting = []
        for channel in channels {
            ended += await channel.release()
            await channel.depart()
        }
        channels = []
        for one in ended { one.end(nil) }
        let all = ended
        await MainActor.run { for one in all { one.refresh() } }
    }

    private func flush() async {
        isGathering = false
        var observed = waiting.filter { !$0.isEnded }
        waiting = []
        guard !observed.isEmpty, !isClosed else { return }
        if channels.count >= options.streams {
            for channel in channels {
                // Those with room are moved together, and read their contents anew.
                guard let names else { observed = await channel.release() + observed; continue }
                if await channel.count < names { observed = await channel.release() + observed }
            }
        }
        let size = names ?? observed.count
        for start in stride(from: 0, to: observed.count, by: size) {
            let channel = Channel(hub: self, observed: Array(observed[start..<min(start + size, observed.count)]))
            channels.append(channel)
            await channel.start()
        }
    }
}

struct TimeoutError: Error {}

/// Runs a piece of work for a limited time.
func withTimeout<Value: Sendable>(
    _ seconds: Double, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: work)
        group.addTask {
            try await Task.sleep(for: .seconds(seconds))
            throw TimeoutError()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
