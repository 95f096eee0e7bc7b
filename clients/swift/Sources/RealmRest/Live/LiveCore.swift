import Synchronization

/// Whether what is live is connected.
public enum LiveState: Sendable, Hashable {
    case connecting
    case live
    case offline
    case ended
}

/// What a channel tells of one subscription.
protocol Observed: AnyObject, Sendable {
    var definition: JSON { get }
    var hasSnapshot: Bool { get }
    var hasVersion: Bool { get }
    var isEnded: Bool { get }
    func take(snapshot parts: [JSON]) throws
    func take(changes body: JSON) throws
    /// Everything up to this position was delivered; `quietly` if the stream does not know that this is known.
    func advance(to position: String, quietly: Bool)
    /// What has no contents may have changed in any way.
    func restart(at position: String)
    func lose(_ error: any Error)
    func vanish()
    func end(_ error: (any Error)?)
    @MainActor func refresh()
}

/// How contents of one kind are read and changed.
struct Kind<Contents: Sendable, Change: Sendable>: Sendable {
    var hasSnapshot = true
    let empty: Contents
    let load: @Sendable ([JSON]) throws -> Contents
    /// The change of contents that were read anew, from those before.
    let replace: @Sendable (_ before: Contents, _ after: Contents, _ version: String?) -> Change
    let update: @Sendable (inout Contents, JSON) throws -> Change
    /// The change of what does not exist any more.
    let vanish: @Sendable (_ before: Contents) -> Change
    /// The change between two contents where writes are shown in advance; nil if there is none.
    var difference: @Sendable (_ before: Contents, _ after: Contents, _ set: JSON?) -> Change? = { _, _, _ in nil }
}

/// One subscription: its contents, who follows them, and where its next change set begins.
final class LiveCore<Contents: Sendable, Change: Sendable>: Observed {
    struct Status: Sendable {
        var state = LiveState.connecting
        var error: (any Error)?
        var version: String?
        var resets = 0
        var isDeleted = false
        /// Counts every change of anything, for those who wait.
        var revision = 0
    }

    /// A write that is shown before the server's contents include it.
    struct Edit: Sendable {
        let id: Int
        var show: @Sendable (Contents) -> Contents
        var version: String?
    }

    private struct State {
        var status = Status()
        var contents: Contents
        var view: Contents
        var link: String?
        var isLoaded = false
        var edits: [Edit] = []
        var nextEdit = 0
        var feeds: [ObjectIdentifier: Weak<FeedQueue<Change>>] = [:]
        var mirrors: [@MainActor @Sendable () -> Void] = []
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    let definition: JSON
    private let kind: Kind<Contents, Change>
    private let bound: Int
    private let state: Mutex<State>

    init(definition: JSON, kind: Kind<Contents, Change>, bound: Int) {
        self.definition = definition
        self.kind = kind
        self.bound = bound
        state = Mutex(State(contents: kind.empty, view: kind.empty))
    }

    var hasSnapshot: Bool { kind.hasSnapshot }
    var status: Status { state.withLock { $0.status } }
    var hasVersion: Bool { status.version != nil }
    var isEnded: Bool { status.state == .ended }
    /// What is shown: the server's contents with the writes on top of them.
    var view: Contents { state.withLock { $0.view } }

    // MARK: For the channel

    func take(snapshot parts: [JSON]) throws {
        let version = parts.last?["version"]?.text
        let contents = try kind.load(parts)
        change { state in
            let before = state.view
            state.contents = contents
            state.status.version = version
            state.link = version
            settle(&state, at: version)
            state.view = state.edits.reduce(contents) { $1.show($0) }
            defer { state.isLoaded = true }
            guard state.isLoaded else { return nil }
            state.status.resets += 1
            return kind.replace(before, state.view, version)
        }
    }

    func take(changes body: JSON) throws {
        guard let from = body["from"]?.text, let to = body["to"]?.text else {
            throw Diverged(description: "a set without versions")
        }
        let before = state.withLock { ($0.link, $0.contents) }
        if before.0 != from {
            // A reconnect may repeat the last set.
            guard before.0 == to else { throw Diverged(description: "a set from \(from) at \(before.0 ?? "nothing")") }
            return
        }
        var contents = before.1
        let isSkipped = body["skipped"]?.isTrue == true
        let made = isSkipped ? nil : try kind.update(&contents, body)
        change { state in
            let shown = state.view
            let wasEdited = !state.edits.isEmpty
            state.contents = contents
            state.status.version = to
            state.status.isDeleted = body["deleted"]?.isTrue == true
            state.link = to
            settle(&state, at: to)
            state.view = state.edits.reduce(contents) { $1.show($0) }
            return wasEdited ? kind.difference(shown, state.view, body) : made
        }
    }

    func advance(to position: String, quietly: Bool) {
        let isDeleted = change { state in
            let before = state.view
            state.status.version = position
            if !quietly {
                state.link = position
                state.status.state = .live
                state.status.error = nil
            }
            guard settle(&state, at: position) else { return nil }
            state.view = state.edits.reduce(state.contents) { $1.show($0) }
            return kind.difference(before, state.view, nil)
        }
        if isDeleted { end(nil) }
    }

    func restart(at position: String) {
        change { state in
            defer {
                state.isLoaded = true
                state.status.version = position
                state.link = position
            }
            guard state.isLoaded else { return nil }
            state.status.resets += 1
            return kind.replace(state.view, state.view, position)
        }
    }

    func lose(_ error: any Error) {
        change { state in
            if state.status.state == .live { state.status.state = .offline }
            state.status.error = error
            return nil
        }
    }

    func vanish() {
        change { state in
            let before = state.view
            (state.contents, state.view, state.status.isDeleted) = (kind.empty, kind.empty, true)
            return kind.vanish(before)
        }
        end(nil)
    }

    func end(_ error: (any Error)?) {
        let feeds = state.withLock { state -> [FeedQueue<Change>] in
            guard state.status.state != .ended else { return [] }
            state.status.state = .ended
            state.status.error = error
            return state.feeds.values.compactMap(\.value)
        }
        for feed in feeds { feed.close(error) }
        change { _ in nil }
    }

    @MainActor func refresh() {
        for mirror in state.withLock({ $0.mirrors }) { mirror() }
    }

    // MARK: For those who follow

    func addMirror(_ mirror: @escaping @MainActor @Sendable () -> Void) { state.withLock { $0.mirrors.append(mirror) } }

    /// The changes from now on.
    func feed(onEnd: @escaping @Sendable () -> Void = {}) -> ChangeFeed<Change> {
        let kind = kind
        let queue = FeedQueue<Change>(
            bound: bound,
            whole: { [weak self] in
                let (contents, version) = self.map { ($0.view, $0.status.version) } ?? (kind.empty, nil)
                return kind.replace(kind.empty, contents, version)
            }, onEnd: onEnd)
        let status = state.withLock { state in
            state.feeds = state.feeds.filter { $0.value.value != nil }
            state.feeds[ObjectIdentifier(queue)] = Weak(queue)
            return state.status
        }
        if status.state == .ended { queue.close(status.error) }
        return ChangeFeed(queue: queue)
    }

    /// The whole contents as the first change of a feed.
    func whole() -> Change { state.withLock { kind.replace(kind.empty, $0.view, $0.status.version) } }

    /// Waits until a condition holds, which is tried after each change.
    func until(_ condition: @Sendable (Status, Contents) -> Bool) async throws {
        while true {
            let (status, contents) = state.withLock { ($0.status, $0.view) }
            if condition(status, contents) { return }
            if status.state == .ended { throw status.error ?? LiveEnded(reason: "closed", problem: nil) }
            try Task.checkCancellation()
            await nextChange(after: status)
        }
    }

    // MARK: Writes that show at once

    func add(_ show: @escaping @Sendable (Contents) -> Contents) -> Int {
        var id = 0
        change { state in
            id = state.nextEdit
            state.nextEdit += 1
            state.edits.append(Edit(id: id, show: show))
            return reshow(&state)
        }
        return id
    }

    /// The server has written it: with this version, and shown like this from now on.
    func confirm(_ id: Int, version: String?, show: (@Sendable (Contents) -> Contents)?) {
        change { state in
            guard let index = state.edits.firstIndex(where: { $0.id == id }) else { return nil }
            state.edits[index].version = version
            if let show { state.edits[index].show = show }
            if let position = state.status.version { settle(&state, at: position) }
            return reshow(&state)
        }
    }

    func drop(_ id: Int) {
        change { state in
            guard let index = state.edits.firstIndex(where: { $0.id == id }) else { return nil }
            state.edits.remove(at: index)
            return reshow(&state)
        }
    }

    func hasEdit(_ id: Int) -> Bool { state.withLock { $0.edits.contains { $0.id == id } } }

    private func reshow(_ state: inout State) -> Change? {
        let before = state.view
        state.view = state.edits.reduce(state.contents) { $1.show($0) }
        return kind.difference(before, state.view, nil)
    }

    /// Drops the writes that the server's contents include.
    @discardableResult
    private func settle(_ state: inout State, at position: String?) -> Bool {
        let count = state.edits.count
        state.edits.removeAll { $0.version.map { reached(position, $0) } ?? false }
        return state.edits.count != count
    }

    /// Changes the state, tells who follows, and answers whether what is observed is deleted.
    @discardableResult
    private func change(_ body: (inout State) -> Change?) -> Bool {
        let (feeds, made, waiters, isDeleted) = state.withLock { state in
            let made = body(&state)
            state.status.revision += 1
            defer { state.waiters = [:] }
            return (state.feeds.values.compactMap(\.value), made, Array(state.waiters.values), state.status.isDeleted)
        }
        if let made { for feed in feeds { feed.put(made) } }
        for waiter in waiters { waiter.resume() }
        return isDeleted
    }

    private func nextChange(after known: Status) async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isChanged = state.withLock { state in
                    if Task.isCancelled || state.status.revision != known.revision { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isChanged { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}

/// A feed whose reader has gone is forgotten.
///
/// Unchecked, because the reference is never assigned after `init`, and reading a weak reference is atomic.
struct Weak<Object: AnyObject & Sendable>: @unchecked Sendable {
    private weak var object: Object?

    init(_ object: Object) { self.object = object }

    var value: Object? { object }
}
