// SPDX-License-Identifier: Apache-2.0

/// One observed target with its listeners. It is used on the hub's thread only, and exists while it has
/// listeners.
final class Observation {
    /// A listener of the target, with whether it waits for events.
    struct Listener {
        /// The object that receives the events of the target.
        let listener: any ObservationListener
        /// Whether it waits for events; a target without an active listener is passive.
        var isActive: Bool
    }

    /// The target that is observed.
    let target: ObservedTarget
    /// The observer that follows the target from version to version.
    let observer: any TargetObserver
    /// The version that the observer is at.
    var version: Version
    /// The listeners by the numbers of their attachments.
    var listeners: [Int: Listener] = [:]

    /// Makes an observation without listeners.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - observer: The observer of the target.
    ///   - version: The version that the observer is at.
    init(_ target: ObservedTarget, _ observer: any TargetObserver, _ version: Version) {
        self.target = target
        self.observer = observer
        self.version = version
    }

    /// Whether any listener waits for events.
    var isActive: Bool { listeners.values.contains { $0.isActive } }

    /// The listeners in the order in which they attached.
    var listenersInOrder: [any ObservationListener] { listeners.sorted { $0.key < $1.key }.map(\.value.listener) }
}
