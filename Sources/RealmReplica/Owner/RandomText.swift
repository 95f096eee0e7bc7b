// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Texts that nobody else has.
enum RandomText {
    /// Returns 75 random bits as text.
    static func token() -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String((0..<15).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] })
    }
}
