// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The intervals of reading keys, in seconds.
package struct TokenTiming: Sendable {
    /// The interval of checks whether a file has changed and whether keys are due.
    package var lookSeconds = 1.0
    /// The lifetime of keys whose source does not state one.
    package var usualAge = 600.0
    /// The ages that a source may demand for its keys.
    package var ages = 60.0...86_400.0
    /// The pause between two readings because of tokens whose key is unknown.
    package var unknownKeyPause = 30.0
    /// The pause after a first failed reading, which doubles with each later one.
    package var firstPause = 5.0
    /// The longest pause after a failed reading.
    package var longestPause = 60.0
    /// The time that the response of a source may take.
    package var answerSeconds = 10

    /// Makes the usual times.
    package init() {}

    /// Returns the seconds after which keys are read again: well before they become too old.
    ///
    /// - Parameter age: The age that their source permits; nil when it says nothing.
    func refresh(after age: Double?) -> Double { 0.8 * min(max(age ?? usualAge, ages.lowerBound), ages.upperBound) }

    /// Returns the pause after as many failures in a row.
    func pause(after failures: Int) -> Double {
        let doubled = (1..<max(failures, 1)).prefix(16).reduce(firstPause) { pause, _ in 2 * pause }
        return min(doubled, longestPause)
    }
}
