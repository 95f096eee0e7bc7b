// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// What one client knows: a copy for each of its subscriptions, kept up by change sets alone, and where each stands.
final class ReplayCopies {
    /// By the names under which they are told.
    private(set) var definitions: [String: ParsedJSON]
    private(set) var copies: [String: ClientCopy] = [:]
    /// The last id, or `next`.
    private(set) var position = ""
    /// Where each subscription stands; `from` has to say the same.
    private var positions: [String: String] = [:]
    /// Subscriptions of which something was kept from the client.
    private(set) var blind: Set<String> = []
    /// Subscriptions that were reset and have no snapshot yet.
    private var untold: Set<String> = []
    /// Versions at which a skipped set is due.
    private var skips: [String: Set<String>] = [:]
    /// Reasons for which subscriptions may begin anew, and whether they have to.
    var allowedResets: Set<String> = []
    var expectedReset: String?
    /// Called when everything up to a version was applied.
    var didReach: (String) throws -> Void = { _ in }

    init(_ definitions: [String: ParsedJSON]) {
        self.definitions = definitions
        for name in definitions.keys { forget(name) }
    }

    private func fault(_ text: String) -> ClientCopy.Mismatch { ClientCopy.Mismatch(description: text) }

    private func forget(_ name: String) {
        var copy = ClientCopy()
        copy.isOneSection = definitions[name]?["section"] != nil
        copies[name] = copy
        blind.remove(name)
    }

    /// In another life these are not there.
    func drop(_ names: Set<String>) {
        for name in names { (definitions[name], copies[name], positions[name], skips[name]) = (nil, nil, nil, nil) }
    }

    private static func number(_ version: String) -> Int { version.split(separator: ".").last.flatMap { Int($0) } ?? 0 }

    var isGone: Bool { copies.values.contains(where: \.isGone) }

    /// The client has been told that what it observes is not there.
    func noteGone() { for name in copies.keys { copies[name]?.isGone = true } }

    func expectSkip(_ name: String, at version: String) {
        guard copies[name]?.isGone != true else { return }
        skips[name, default: []].insert(version)
        blind.insert(name)
    }

    // MARK: - What is told

    func reset(_ document: ParsedJSON) throws {
        let reason = document["reason"]?.text ?? ""
        let names = (document["subs"]?.elements ?? []).compactMap(\.text)
        let isRevived = names.allSatisfy { copies[$0]?.isGone == true }
        guard expectedReset == nil || expectedReset == reason,
            allowedResets.contains(reason) || expectedReset == reason || isRevived
        else {
            throw fault("a reset without need: \(document.serialized)")
        }
        if expectedReset != nil, Set(names) != Set(definitions.keys) { throw fault("not all are reset: \(document.serialized)") }
        expectedReset = nil
        let version = document["version"]?.text ?? ""
        for name in names {
            forget(name)
            positions[name] = version
            untold.insert(name)
            let due = (skips[name] ?? []).filter { ReplayCopies.number($0) > ReplayCopies.number(version) }
            skips[name] = reason == "epoch" ? nil : due
            if skips[name]?.isEmpty == false { blind.insert(name) }
        }
    }

    func take(snapshot: ParsedJSON) {
        let name = snapshot["sub"]?.text ?? ""
        copies[name, default: ClientCopy()].take(snapshot: snapshot)
        untold.remove(name)
        positions[name] = snapshot["version"]?.text
    }

    func apply(_ set: ParsedJSON) throws {
        let name = set["sub"]?.text ?? ""
        guard expectedReset == nil else { throw fault("\(name): a change where a reset was due: \(set.serialized)") }
        guard let known = positions[name], set["from"]?.text == known else {
            throw fault("\(name): from is not \(positions[name] ?? "known"): \(set.serialized)")
        }
        positions[name] = set["to"]?.text
        if set["skipped"] != nil, skips[name]?.remove(set["to"]?.text ?? "") == nil {
            throw fault("\(name): skipped without need: \(set.serialized)")
        }
        // Nothing follows, not even what is skipped.
        if set["deleted"]?.isTrue == true {
            skips[name] = nil
            if blind.contains(name) { copies[name]?.isGone = true }
        }
        guard !blind.contains(name) else { return }
        if copies[name]?.isGone == true { throw fault("\(name): a change behind the end: \(set.serialized)") }
        if ClientCopy.saysNothing(set) { throw fault("\(name): nothing is told: \(set.serialized)") }
        // The whole realm has no copy.
        guard definitions[name]?.members?.isEmpty == false else { return }
        do {
            try copies[name, default: ClientCopy()].apply(set)
        } catch {
            throw fault("\(name): \(error)")
        }
    }

    /// Everything up to here was told of all subscriptions.
    func stand(at id: String) throws {
        position = id
        // What has begun anew and has no snapshot is not there any more.
        for name in untold where definitions[name]?["class"] != nil { copies[name]?.isGone = true }
        untold = []
        for name in definitions.keys { positions[name] = id }
        try didReach(id)
    }

    /// One answer of a long-poll.
    func take(poll answer: ParsedJSON) throws {
        if expectedReset != nil, answer["reset"] == .null { throw fault("no reset: \(answer.serialized)") }
        if let reset = answer["reset"], reset != .null { try self.reset(reset) }
        for snapshot in answer["snapshots"]?.elements ?? [] { take(snapshot: snapshot) }
        for set in answer["changes"]?.elements ?? [] { try apply(set) }
        guard let next = answer["next"]?.text else { throw fault("no next: \(answer.serialized)") }
        try stand(at: next)
    }

    /// One event, with those that came since the last id.
    func take(_ events: [EventClient.Event]) throws {
        for event in events {
            switch event.name {
            case "reset": try reset(event.json)
            case "snapshot":
                guard expectedReset == nil else { throw fault("a snapshot where a reset was due") }
                take(snapshot: event.json)
            case "changes": try apply(event.json)
            case "ready" where expectedReset != nil: throw fault("ready where a reset was due")
            default: break
            }
        }
        if let id = events.last?.id { try stand(at: id) }
    }

    /// Skipped sets that have not come although their version has passed.
    func checkSkips() throws {
        for (name, versions) in skips where !versions.isEmpty { throw fault("\(name): nothing was skipped at \(versions)") }
    }
}
