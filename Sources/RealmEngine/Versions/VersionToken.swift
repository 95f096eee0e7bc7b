// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The text `<epoch>.<version>` that identifies a version: in responses, entity tags, events and request
/// header fields.
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

/// The random name of one opening of a file. It changes whenever the file is opened again, replaced or
/// restored.
///
/// Commit counters restart in a copy of a file, so only epoch and version together identify a state of
/// the data.
package struct Epoch: Sendable, Hashable {
    /// Eight lower-case letters and digits, without characters that are easily confused.
    package let text: String

    /// Takes over an epoch that another opening began: that of a realm whose log of commits goes on through openings.
    package init(continuing text: String) { self.text = text }

    /// Makes a random epoch: short enough to read, and random enough that two openings do not have the
    /// same.
    package init() {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        text = String((0..<8).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
    }
}
