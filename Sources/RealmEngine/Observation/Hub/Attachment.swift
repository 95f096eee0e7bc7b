// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

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
