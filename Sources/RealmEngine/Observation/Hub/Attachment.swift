// SPDX-License-Identifier: Apache-2.0

/// A hold on an observed target, for as long as it is kept.
package final class Attachment: Sendable {
    /// The identity of the target.
    package let identity: String
    /// Tells it from other attachments of the hub.
    let number: Int

    /// A hold on the target with this identity.
    init(_ identity: String, _ number: Int) {
        self.identity = identity
        self.number = number
    }
}
