// SPDX-License-Identifier: Apache-2.0

/// The random name of one incarnation of a file: changes whenever the file is opened again, replaced or restored.
///
/// Commit counters restart in a copy, so only epoch and version together name a state of the data.
package struct Epoch: Sendable, Hashable {
    package let text: String

    /// Eight letters and digits: short enough to read, random enough that no two incarnations meet.
    package init() {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        text = String((0..<8).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
    }
}

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
