// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One observed target with those who listen to it. Used on the thread of the hub only.
final class Observation {
    struct Listener {
        let listener: any ObservationListener
        var isActive: Bool
    }

    let target: ObservedTarget
    let observer: any TargetObserver
    /// Where it stands.
    var version: Version
    /// By the number of their attachment.
    var listeners: [Int: Listener] = [:]

    init(_ target: ObservedTarget, _ observer: any TargetObserver, _ version: Version) {
        self.target = target
        self.observer = observer
        self.version = version
    }

    /// Whether somebody waits for its events.
    var isActive: Bool { listeners.values.contains { $0.isActive } }

    var listenersInOrder: [any ObservationListener] { listeners.sorted { $0.key < $1.key }.map(\.value.listener) }
}
