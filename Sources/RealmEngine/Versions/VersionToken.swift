// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The text `<epoch>.<version>` that identifies a version: in responses, entity tags, events and request header fields.
package struct VersionToken: Sendable, Hashable {
    /// The epoch: the name of the opening that the version belongs to.
    package let epoch: String
    /// The commit counter of the file.
    package let version: UInt64

    /// Makes the token of a version of an open realm.
    package init(epoch: Epoch, version: UInt64) {
        self.epoch = epoch.text
        self.version = version
    }

    /// Parses a token; nil for a text of another form, such as one with a sign or a leading zero. The epoch is not compared with that of any realm.
    package init?(_ text: some StringProtocol) {
        guard let dot = text.lastIndex(of: "."), dot != text.startIndex else { return nil }
        let digits = text[text.index(after: dot)...]
        guard let version = UInt64(digits), String(version).utf8.elementsEqual(digits.utf8) else { return nil }
        epoch = String(text[..<dot])
        self.version = version
    }

    /// The token as it is written in header fields and documents.
    package var text: String { epoch + "." + String(version) }
}
