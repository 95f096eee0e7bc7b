// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The random name of one opening of a file. It changes whenever the file is opened again, replaced or restored.
///
/// Commit counters restart in a copy of a file, so only epoch and version together identify a state of the data.
package struct Epoch: Sendable, Hashable {
    /// Eight lower-case letters and digits, without characters that are easily confused.
    package let text: String

    /// Continues the epoch of another opening, as of a realm whose log of commits spans openings.
    package init(continuing text: String) { self.text = text }

    /// Makes a random epoch: short enough to read, and random enough that two openings do not have the same.
    package init() {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        text = String((0..<8).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
    }
}
