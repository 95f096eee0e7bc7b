// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
package import RealmRecovery

/// The states of a recovery that a request asks for.
package struct RecoveryFilter: Sendable {
    /// The class; nil for all.
    private let className: String?
    /// The kinds; nil for all.
    private let kinds: [RecoveredLine.Kind]?
    /// The certainties; nil for all.
    private let certainties: [RecoveredLine.Certainty]?
    /// The first version of wanted states; nil for all.
    private let since: UInt64?
    /// The versions of which a wanted state has one; nil for all.
    private let versions: [UInt64]?

    /// The most versions that a request may name.
    private static let versionLimit = 1000

    /// Reads the parameters `class`, `kind`, `certainty`, `since` and `versions`.
    ///
    /// - Throws: `invalid_parameter` for an unknown word, and for a version that is no number.
    package init(_ parameters: ParameterSet) throws(Problem) {
        className = try parameters.text("class")
        kinds = try RecoveryFilter.words("kind", parameters)
        certainties = try RecoveryFilter.words("certainty", parameters)
        since = try parameters.int("since", in: 0...Int.max).map { UInt64($0) }
        let texts = try parameters.list("versions", atMost: RecoveryFilter.versionLimit)
        var versions: [UInt64]?
        for text in texts ?? [] {
            guard let number = UInt64(text) else {
                throw .invalidParameter("versions", "'\(text.truncated)' is not the number of a version")
            }
            versions = (versions ?? []) + [number]
        }
        self.versions = versions
    }

    /// Reads a parameter with words of an enumeration.
    private static func words<Word: CaseIterable & RawRepresentable>(
        _ name: String, _ parameters: ParameterSet
    ) throws(Problem) -> [Word]? where Word.RawValue == String {
        guard let texts = try parameters.list(name, atMost: Word.allCases.count) else { return nil }
        var words: [Word] = []
        for text in texts {
            guard let word = Word(rawValue: text) else {
                let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter(name, "'\(name)' takes \(known), got '\(text.truncated)'")
            }
            words.append(word)
        }
        return words
    }

    /// Returns whether a request asks for a state.
    package func admits(_ line: RecoveredLine) -> Bool {
        if let className, line.className != className { return false }
        if let kinds, !kinds.contains(line.kind) { return false }
        if let certainties, !certainties.contains(line.certainty) { return false }
        if let since, !line.versions.isEmpty, !line.versions.contains(where: { $0 >= since }) { return false }
        if let versions, !line.versions.contains(where: { versions.contains($0) }) { return false }
        return true
    }

    /// Returns the indices of the wanted lines of a recovery.
    package func indices(in recovery: KeptRecovery) -> [Int] {
        recovery.lines.indices.filter { admits(recovery.lines[$0]) }
    }
}
