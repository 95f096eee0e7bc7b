import Observation

/// What stays current: observable by SwiftUI and `withObservationTracking`, on the main actor.
///
/// `contents` change together with those of everything else that shares a stream, and are of one version.
@MainActor
@Observable
public final class Live<Contents: Sendable, Change: Sendable> {
    public private(set) var contents: Contents
    public private(set) var state: LiveState
    /// The version that the contents are of.
    public private(set) var version: String?
    /// Why it is offline, or has ended.
    public private(set) var error: (any Error)?
    /// The object that is followed, or the one that owns the collection, is gone.
    public private(set) var isDeleted = false
    /// How often the contents had to be read anew, after the first time.
    public private(set) var resets = 0

    @ObservationIgnored let core: LiveCore<Contents, Change>
    @ObservationIgnored let hub: Hub

    init(core: LiveCore<Contents, Change>, hub: Hub) {
        self.core = core
        self.hub = hub
        contents = core.view
        state = .connecting
        core.addMirror { [weak self] in self?.show() }
        show()
    }

    deinit {
        let (core, hub) = (core, hub)
        Task { await hub.end(core) }
    }

    /// The changes from now on.
    public func changes() -> ChangeFeed<Change> { core.feed() }

    /// Stops following. The contents stay as they are.
    public func close() async {
        await hub.end(core)
        show()
    }

    /// Waits until the contents include a version, such as that of a write.
    ///
    /// A stream tells of versions without changes for it only with its heartbeat, so after a moment the server is asked.
    public func reach(_ version: String?, timeout: Double = 30) async throws {
        if let version { try await core.reach(version, hub: hub, timeout: timeout) }
        show()
    }

    /// Waits until a condition on the contents holds, which is tried after each change.
    public func until(timeout: Double = 30, _ condition: @escaping @Sendable (Contents) -> Bool) async throws {
        let core = core
        try await withTimeout(timeout) { try await core.until { _, contents in condition(contents) } }
        show()
    }

    func show() {
        let status = core.status
        contents = core.view
        if state != status.state { state = status.state }
        if version != status.version { version = status.version }
        if isDeleted != status.isDeleted { isDeleted = status.isDeleted }
        if resets != status.resets { resets = status.resets }
        if (error == nil) != (status.error == nil) || error != nil { error = status.error }
    }
}

/// A list that stays current, in `contents`.
public typealias LiveList<Element: Sendable> = Live<[Element], ChangeSet<Element>>
/// An object that stays current; nil once it is deleted.
public typealias LiveObject<Value: Decodable & Sendable> = Live<Stored<Value>?, ObjectChange<Value>>
/// A dictionary that stays current.
public typealias LiveDictionary<Value: Sendable> = Live<[String: Value], DictionaryChange<Value>>

extension LiveCore {
    func reach(_ version: String, hub: Hub, timeout: Double) async throws {
        try await withTimeout(timeout) {
            var pause = 0.1
            while !reached(self.status.version, version) {
                do {
                    try await withTimeout(pause) { try await self.until { status, _ in reached(status.version, version) } }
                } catch is TimeoutError {
                    await hub.nudge(self)
                    pause = min(pause * 2, 1)
                }
            }
        }
    }
}
