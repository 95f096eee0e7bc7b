// SPDX-License-Identifier: Apache-2.0

/// The random name of one incarnation of a file: changes whenever the file is opened again, replaced or restored.
///
/// Commit counters restart in a copy, so only epoch and version together name a state of the data.
package struct Epoch: Sendable, Hashable {
    /// Eight lower-case letters and digits without those that are easily confused.
    package let text: String

    /// Eight letters and digits: short enough to read, random enough that no two incarnations have the same.
    package init() {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        text = String((0..<8).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
    }
}
