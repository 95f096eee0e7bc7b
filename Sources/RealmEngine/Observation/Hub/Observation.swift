// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One observed target with those who listen to it. Used on the thread of the hub only.
final class Observation {
    /// A listener of the target.
    struct Listener {
        /// Who is called.
        let listener: any ObservationListener
        /// Whether it waits for events.
        var isActive: Bool
    }

    /// What is observed.
    let target: ObservedTarget
    /// Follows the target from version to version.
    let observer: any TargetObserver
    /// The version that it is at.
    var version: Version
    /// By the number of their attachment.
    var listeners: [Int: Listener] = [:]

    /// An observation whose observer is at `version`.
    init(_ target: ObservedTarget, _ observer: any TargetObserver, _ version: Version) {
        self.target = target
        self.observer = observer
        self.version = version
    }

    /// Whether a listener waits for its events.
    var isActive: Bool { listeners.values.contains { $0.isActive } }

    /// The listeners in the order in which they attached.
    var listenersInOrder: [any ObservationListener] { listeners.sorted { $0.key < $1.key }.map(\.value.listener) }
}
