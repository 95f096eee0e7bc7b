// SPDX-License-Identifier: Apache-2.0

/// `<epoch>.<version>`: the one token for read versions, list ETags, events and commits.
package struct VersionToken: Sendable, Hashable {
    /// The name of the opening that the version belongs to.
    package let epoch: String
    /// The commit counter of the file.
    package let version: UInt64

    /// The token of a version of an open realm.
    package init(epoch: Epoch, version: UInt64) {
        self.epoch = epoch.text
        self.version = version
    }

    /// Reads a token; nil for a text of another form. The epoch is not compared with any realm.
    package init?(_ text: some StringProtocol) {
        guard let dot = text.lastIndex(of: "."), dot != text.startIndex, let version = UInt64(text[text.index(after: dot)...])
        else { return nil }
        epoch = String(text[..<dot])
        self.version = version
    }

    /// The token as it is written in headers and documents.
    package var text: String { epoch + "." + String(version) }
}
