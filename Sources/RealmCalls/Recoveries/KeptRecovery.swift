// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmRecovery
internal import RealmStorage

/// The findings of a recovery of a realm, which are listed and restored later.
///
/// It has the values themselves, and no part of the file that was searched.
///
/// `@unchecked Sendable`: nothing of it changes after it was made.
package final class KeptRecovery: @unchecked Sendable {
    /// A random name, with which the ids of all lines begin.
    package let id: String
    /// The version that the file had when it was copied.
    package let version: VersionToken
    /// The states that were found, by class.
    package let lines: [RecoveredLine]
    /// The parts that were not examined, with reasons.
    package let incomplete: [String]
    /// Whether everything was looked at, and the present version is sound.
    package let isComplete: Bool
    /// The line `$begin`.
    package let begin: [UInt8]
    /// The versions that the file still has, a JSON array.
    package let versions: [UInt8]
    /// Whether a commit began to write and was never finished.
    package let isCommitCutShort: Bool
    /// The classes whose object keys do not name one object of all time.
    let ambiguousClasses: [String]
    /// The states of the objects that lived when the file was copied, by line.
    private let states: [Int: String]

    /// The most objects that a link value is looked up in, and the most states that are compared.
    private static let maximumStates = 1 << 20

    /// Keeps the findings of a search.
    ///
    /// - Parameters:
    ///   - recovery: The search of a copy of the file.
    ///   - version: The version that the file had when it was copied, with everything in it.
    ///   - tool: The name and version of the program.
    ///   - path: The path of the file, for its surroundings.
    /// - Throws: The problem of a damaged file.
    package init(_ recovery: Recovery, of version: Version, tool: String, path: String) throws(Problem) {
        id = RandomName.make()
        self.version = version.token
        lines = recovery.lines
        incomplete = recovery.incomplete
        isComplete = recovery.isComplete
        begin = recovery.beginLine(tool: tool, options: [], EvidenceSurroundings(ofFile: path))
        versions = recovery.versionsArray
        isCommitCutShort = recovery.isCommitCutShort
        ambiguousClasses = recovery.classesOfSeveralTables
        var states: [Int: String] = [:]
        let encoder = ObjectEncoder(version.snapshot, Representation())
        for (index, line) in recovery.lines.enumerated().prefix(KeptRecovery.maximumStates) where line.kind == .changed {
            guard let key = line.key, let table = version.snapshot.classTable(named: line.className) else { continue }
            states[index] = try Problem.mapping { () throws(StorageError) in
                guard let row = try KeyText.find(key, in: table) else { return nil }
                return WriteCondition.state(ofTag: try encoder.entityTag(of: row, in: table))
            }
        }
        self.states = states
    }

    /// Returns the text by which requests name a line.
    package func id(ofLine index: Int) -> String { "\(id)-\(index + 1)" }

    /// Returns the index of the line with an id; nil when this recovery has none.
    package func line(withID text: String) -> Int? {
        guard let digits = text.dropping(prefix: id + "-"), let number = Int(digits), lines.indices.contains(number - 1),
            self.id(ofLine: number - 1) == text
        else { return nil }
        return number - 1
    }

    /// Returns the condition that the object of a line is as it was when the file was copied.
    func condition(ofLine index: Int) -> WriteCondition {
        WriteCondition(ifState: states[index] ?? "")
    }
}
