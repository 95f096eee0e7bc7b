// SPDX-License-Identifier: Apache-2.0

/// `<epoch>.<version>`: the one token for read versions, list ETags, events and commits.
package struct VersionToken: Sendable, Hashable {
    package let epoch: String
    package let version: UInt64

    package init(epoch: Epoch, version: UInt64) {
        self.epoch = epoch.text
        self.version = version
    }

    package init?(_ text: some StringProtocol) {
        guard let dot = text.lastIndex(of: "."), dot != text.startIndex, let version = UInt64(text[text.index(after: dot)...])
        else { return nil }
        epoch = String(text[..<dot])
        self.version = version
    }

    package var text: String { epoch + "." + String(version) }
}
