// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The call of `ObservationHub.attach`, as long as its target is evaluated on another thread.
struct AttachCall: Sendable {
    let target: ObservedTarget
    /// Receives the events after the state that `completion` receives.
    let listener: any ObservationListener
    /// Whether the listener waits for events from the beginning.
    let isActive: Bool
    /// What limits the beginning of an observation.
    var admission: ObservedMemory.Admission
    /// How often the target was evaluated in vain, because of what was committed meanwhile.
    var attempts = 0
    /// Receives the attachment with the state of the target, or an error.
    let completion: @Sendable (Result<Attached, ObservationError>) -> Void

    /// Whether the caller has time left and still waits. Called without a lock.
    var isWanted: Bool { admission.mayGoOn }
}
