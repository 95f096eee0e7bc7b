// SPDX-License-Identifier: Apache-2.0

/// A hold on an observed target, for as long as it is kept.
package final class Attachment: Sendable {
    package let identity: String
    let number: Int

    init(_ identity: String, _ number: Int) {
        self.identity = identity
        self.number = number
    }
}
