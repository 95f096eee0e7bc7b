// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Identifies the attachment of one listener to one target of a hub.
///
/// `ObservationHub.attach` makes it. The owner of the listener passes it back to the hub to read
/// contents, to set the listener active or to detach it.
package final class Attachment: Sendable {
    /// The identity of the observed target, as `ObservedTarget.identity`.
    package let identity: String
    /// The number that distinguishes it from other attachments of the hub.
    let number: Int

    /// Makes an attachment to the target with this identity.
    init(_ identity: String, _ number: Int) {
        self.identity = identity
        self.number = number
    }
}

extension Attachment {
    /// The call of `ObservationHub.attach`, as long as its target is evaluated on another thread.
    struct Call: Sendable {
        let target: ObservedTarget
        /// Receives the events after the state that `completion` receives.
        let listener: any ObservationListener
        /// Whether the listener waits for events from the beginning.
        let isActive: Bool
        /// The limits for beginning an observation.
        var admission: ObservedMemory.Admission
        /// The number of evaluations of the target that commits made void.
        var attempts = 0
        /// Receives the attachment with the state of the target, or an error.
        let completion: @Sendable (Result<Attached, ObservationError>) -> Void

        /// Whether the caller has time left and still waits. Called without a lock.
        var isWanted: Bool { admission.mayContinue }
    }
}

/// The result of attaching a listener: the target as it is when its observation begins.
package struct Attached: Sendable {
    /// The attachment of the listener. It ends with `detach`, not by being released.
    package let attachment: Attachment
    /// The version of `contents`, from which the first event starts.
    package let version: Version
    /// The state of the target at `version`.
    package let contents: ObservedContents
    /// The memory in bytes that the observation takes, which all listeners of the target share.
    package let byteCount: Int
}
