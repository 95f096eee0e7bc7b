import Foundation
import Synchronization

/// One registration, and the stream or the polls that read it.
actor Channel {
    private let hub: Hub
    private let transport: Transport
    private let path: String
    private let options: LiveOptions
    private var members: [String: any Observed] = [:]
    private var position: String?
    private(set) var registration: String?
    private(set) var isPolling: Bool
    private var registered = 0
    private var task: Task<Void, Never>?
    private var question: Task<Void, Never>?
    private var farewell: Task<Void, Never>?
    private var backoff: Backoff
    private var brokenStreams = 0
    private var refusals = 0
    private var streamAgain = ContinuousClock.now
    private var awaited: Set<String> = []
    private var serverRetry: Double?
    /// Those that have ended, whose observable copies have yet to show it.
    private var departed: [any Observed] = []

    init(hub: Hub, observed: [any Observed]) {
        self.hub = hub
        transport = hub.transport
        path = hub.path
        options = hub.options
        isPolling = hub.options.transport == .poll
        backoff = Backoff(longest: hub.options.longestPause)
        members = Dictionary(uniqueKeysWithValues: observed.enumerated().map { ("s\($0)", $1) })
    }

    var count: Int { members.count }

    func start() { task = Task { await run() } }

    func carries(_ observed: any Observed) -> Bool { members.values.contains { $0 === observed } }

    /// Takes a subscription out; the last one ends the channel.
    func remove(_ observed: any Observed) async {
        guard let name = members.first(where: { $0.value === observed })?.key else { return }
        members[name] = nil
        if members.isEmpty { _ = await release() }
    }

    /// Ends the channel, and hands back what it carried.
    func release() async -> [any Observed] {
        let observed = Array(members.values)
        members = [:]
        task?.cancel()
        leave()
        await hub.retire(self)
        return observed
    }

    /// Waits until the server has been told that the registration is over.
    func depart() async { await farewell?.value }

    private func leave() {
        guard let old = registration else { return }
        registration = nil
        let (transport, path) = (transport, path)
        // In the background; it would expire by itself.
        farewell = Task { _ = try? await transport.request("DELETE", "\(path)/subscriptions/\(encoded(old))", timeout: 5) }
    }

    private func run() async {
        while !members.isEmpty, !Task.isCancelled {
            var pause: Double?
            do {
                try await connect()
                pause = backoff.next()
            } catch let error as Diverged {
                position = nil
                pause = lost(error, atLeast: nil)
            } catch let error as StreamProblem {
                pause = judge(stream: error.problem)
            } catch let error as Problem {
                pause = judge(error)
            } catch is CancellationError {
                break
            } catch {
                // The first attempt comes at once: most connections are lost for a moment only.
                pause = lost(error, atLeast: backoff.failures > 2 ? serverRetry : nil)
            }
            await refresh()
            if let pause, !members.isEmpty { try? await Task.sleep(for: .seconds(pause)) }
        }
        leave()
        await hub.retire(self)
    }

    private func connect() async throws {
        if registration == nil { try await register() }
        guard !members.isEmpty else { return }
        if isPolling { try await poll() } else { try await stream() }
    }

    // MARK: - Registering

    /// Registers all members; those that the server refuses end, and those beyond its limit go elsewhere.
    private func register() async throws {
        while !members.isEmpty {
            let body = JSON.object(["subscriptions": .object(members.mapValues(\.definition))])
            do {
                let count = members.count
                let answer = try await transport.request("POST", path + "/subscriptions", body: body)
                registration = try answer.json()["id"]?.text
                registered = count
                return
            } catch let problem as Problem {
                guard await refused(problem) else { throw problem }
            }
        }
    }

    /// Whether the problem concerned single subscriptions, which are taken out.
    private func refused(_ problem: Problem) async -> Bool {
        let steps = (problem.pointer ?? "").split(separator: "/").map(String.init)
        guard steps.first == "subscriptions" else { return false }
        if steps.count == 1, let limit = problem.body["limit"]?.integer, limit > 0, limit < members.count {
            var spilled: [any Observed] = []
            for name in members.keys.sorted().dropFirst(limit) {
                if let observed = members.removeValue(forKey: name) { spilled.append(observed) }
            }
            await hub.learn(names: limit, spilled: spilled)
            return true
        }
        guard steps.count > 1, let observed = depart(steps[1]) else { return false }
        if problem.code == "object_not_found", observed.hasVersion { observed.vanish() } else { observed.end(problem) }
        return true
    }

    // MARK: - Reading

    private func query() -> [(String, String)] {
        awaited = position == nil ? Set(members.keys) : []
        var query = [("subscription", registration ?? "")]
        if let position { query.append(("since", position)) }
        return query
    }

    private func stream() async throws {
        let body: Body
        do {
            body = try await transport.open(
                path + "/changes", query: query(), headers: ["Accept": "text/event-stream", "Cache-Control": "no-store"],
                silence: options.silence)
        } catch let error as ConnectionLost where error.isTimeout {
            // The server answers before it evaluates anything, so something holds the answer back.
            noteBrokenStream()
            throw error
        }
        let watch = Watch(silence: options.silence, body: body)
        var isCaughtUp = false
        defer {
            watch.stop()
            if !isCaughtUp { noteBrokenStream() }
        }
        var parser = EventParser()
        var pending: [(String, JSON)] = []
        for try await piece in body.pieces {
            watch.heard()
            for event in try parser.feed(piece) {
                guard try await take(event, &pending) else { return }
                if event.name == "ready" {
                    isCaughtUp = true
                    brokenStreams = 0
                }
                if event.id != nil, trim() { return }
            }
            serverRetry = parser.retryMilliseconds.map { Double($0) / 1000 }
        }
        try Task.checkCancellation()
        throw ConnectionLost("the stream ended without notice")
    }

    /// One event; false ends the stream in good order.
    private func take(_ event: ServerEvent, _ pending: inout [(String, JSON)]) async throws -> Bool {
        let body = event.data.isEmpty ? JSON.null : try parsed(event.data)
        switch event.name {
        case "snapshot", "changes", "reset", "schema": pending.append((event.name, body))
        case "error":
            let problem = Problem(status: body["status"]?.integer ?? 500, body: body, retryAfter: nil)
            if !problem.isRetryable { registration = nil }
            throw StreamProblem(problem: problem)
        case "end":
            ended(body["reason"]?.text ?? "")
            return false
        default: break
        }
        if let id = event.id {
            try commit(pending, at: id)
            pending = []
            await refresh()
        }
        return true
    }

    private func parsed(_ data: [UInt8]) throws -> JSON {
        do { return try JSON(parsing: data) } catch { throw ConnectionLost("an event that is no JSON") }
    }

    private func ended(_ reason: String) {
        if reason == "deleted" {
            registration = nil
            endAll(LiveEnded(reason: "the registration or the realm was deleted", problem: nil))
        } else if reason == "unauthenticated", !transport.isRenewable {
            endAll(LiveEnded(reason: "the credential is not valid any more", problem: nil))
        } else {
            lose(ConnectionLost("the server ended the stream: \(reason)"))
        }
    }

    private func poll() async throws {
        while !members.isEmpty, isPolling, !Task.isCancelled {
            let answer = try await transport.request(
                "GET", path + "/changes", query: query() + [("wait", String(options.pollWait))],
                headers: ["Accept": "application/json"], timeout: Double(options.pollWait) + 20)
            let body = try answer.json()
            guard let next = body["next"]?.text else { throw ConnectionLost("a poll without a position") }
            var pending: [(String, JSON)] = []
            for kind in ["schema", "reset"] {
                if let told = body[kind], !told.isNull { pending.append((kind, told)) }
            }
            pending += (body["snapshots"]?.elements ?? []).map { ("snapshot", $0) }
            pending += (body["changes"]?.elements ?? []).map { ("changes", $0) }
            try commit(pending, at: next)
            await refresh()
            if trim() { return }
            if options.transport == .automatic, ContinuousClock.now > streamAgain { isPolling = false }
        }
    }

    /// Applies what came since the last position. Nothing else runs meanwhile, so all copies are of one version.
    private func commit(_ pending: [(String, JSON)], at id: String) throws {
        var parts: [String: [JSON]] = [:]
        let isSchemaNew = pending.contains { $0.0 == "schema" }
        for (kind, var body) in pending {
            if kind == "reset" {
                let names = (body["subs"]?.elements ?? []).compactMap(\.text)
                awaited.formUnion(names)
                for name in names { parts[name] = nil }
                continue
            }
            guard let name = body["sub"]?.text, let observed = members[name] else { continue }
            if kind == "changes" {
                if isSchemaNew, case .object(var members) = body {
                    members["schema"] = true
                    body = .object(members)
                }
                try observed.take(changes: body)
                continue
            }
            parts[name, default: []].append(body)
            if body["last"]?.isTrue == true {
                awaited.remove(name)
                try observed.take(snapshot: parts.removeValue(forKey: name) ?? [])
            }
        }
        settleAwaited(at: id)
        position = id
        for (name, observed) in members {
            observed.advance(to: id, quietly: false)
            if observed.isEnded { depart(name) }
        }
        backoff.reset()
        refusals = 0
    }

    /// What should have had a snapshot and has none does not exist any more.
    private func settleAwaited(at id: String) {
        for name in awaited {
            guard let observed = members[name] else { continue }
            if observed.hasSnapshot {
                depart(name)
                observed.vanish()
            } else {
                observed.restart(at: id)
            }
        }
        awaited = []
    }

    /// Asks what there is since the position. If it is nothing, everything is of the newest version.
    ///
    /// Many that wait share one question. What there is, the stream or the poll brings anyway.
    func nudge() async {
        let asked = question ?? Task { await ask() }
        question = asked
        await asked.value
        if question == asked { question = nil }
    }

    private func ask() async {
        guard let known = position, let registration else { return }
        let answer = try? await transport.request(
            "GET", path + "/changes", query: [("subscription", registration), ("since", known), ("wait", "0")],
            headers: ["Accept": "application/json"])
        guard let body = try? answer?.json(), let next = body["next"]?.text, position == known,
            body["changes"]?.elements.isEmpty == true, body["snapshots"]?.elements.isEmpty == true,
            body["reset"]?.isNull == true, body["schema"]?.isNull == true
        else { return }
        for observed in members.values { observed.advance(to: next, quietly: true) }
        await refresh()
    }

    /// Brings the observable copies up to date, all at once.
    private func refresh() async {
        let observed = members.values + departed
        departed = []
        await MainActor.run { for one in observed { one.refresh() } }
    }

    // MARK: - Losing and failing

    /// Whether most of the registration is not read any more; then the rest registers anew and goes on.
    private func trim() -> Bool {
        guard members.count * 2 < registered, !members.isEmpty else { return members.isEmpty }
        leave()
        return true
    }

    private func noteBrokenStream() {
        brokenStreams += 1
        guard brokenStreams >= 3, options.transport == .automatic else { return }
        // Something on the way holds streams back.
        brokenStreams = 0
        isPolling = true
        streamAgain = .now + .seconds(options.retryStream)
    }

    /// What follows from a problem that ended a stream.
    private func judge(stream problem: Problem) -> Double? {
        guard !problem.isRetryable else { return lost(problem, atLeast: nil) }
        refusals += 1
        position = nil
        if refusals >= 3 || problem.status == 403 {
            endAll(LiveEnded(reason: "the server ended the subscription", problem: problem))
        }
        return lost(problem, atLeast: nil)
    }

    /// What follows from a refused request: the pause before the next attempt, or the end of everything.
    private func judge(_ problem: Problem) -> Double? {
        if ["not_found", "subscription_expired"].contains(problem.code), registration != nil {
            // The registration did not outlive a restart or an absence; the position may still be good.
            registration = nil
            return lost(problem, atLeast: nil)
        }
        if problem.status == 401, transport.isRenewable, refusals < 3 {
            refusals += 1
            return lost(problem, atLeast: nil)
        }
        if problem.isRetryable || problem.status >= 500 { return lost(problem, atLeast: problem.retryAfter) }
        endAll(position == nil ? problem : LiveEnded(reason: "the server refuses the subscription", problem: problem))
        return nil
    }

    private func lost(_ error: any Error, atLeast: Double?) -> Double {
        lose(error)
        return backoff.next(atLeast: atLeast)
    }

    private func lose(_ error: any Error) { for observed in members.values { observed.lose(error) } }

    private func endAll(_ error: any Error) {
        for name in members.keys { depart(name)?.end(error) }
    }

    @discardableResult
    private func depart(_ name: String) -> (any Observed)? {
        guard let observed = members.removeValue(forKey: name) else { return nil }
        departed.append(observed)
        return observed
    }
}

/// A problem that came as an event of a stream.
struct StreamProblem: Error {
    let problem: Problem
}

/// Ends a stream that has been silent for too long.
private struct Watch: Sendable {
    private let moment = Moment()
    private let task: Task<Void, Never>
    private let body: Body

    init(silence: Double, body: Body) {
        self.body = body
        let moment = moment
        task = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(silence / 8))
                if moment.age > .seconds(silence) {
                    body.cancel("the stream fell silent")
                    return
                }
            }
        }
    }

    func heard() { moment.renew() }

    func stop() {
        task.cancel()
        body.cancel("stopped")
    }
}

/// When something happened last.
private final class Moment: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    func renew() { instant.withLock { $0 = .now } }

    var age: Duration { ContinuousClock.now - instant.withLock { $0 } }
}
