// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmPlatform
import RealmRecovery
import RealmStorage

/// The command `realm-rest recover`: lists the past data that a file still holds.
struct RecoverCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Finds former versions, deleted objects and former values in the unused space of a file.",
        discussion: """
            The file is only read: no lock, no copy, nothing written next to it. Each line states which versions are proved \
            to have had it, what of it is lost, and what is not proved. docs/recovery.md says what is claimed and what is \
            not. Exit status 0: everything was searched, also when nothing was found; 1: the search is incomplete, the \
            present version is damaged, or the file changed during it; 2: the file cannot be opened.
            """)

    /// The path of the file.
    @Argument(help: "A .realm file of the formats 10, 11 and 20 to 24. It is opened for reading only and never changed.")
    var file: String

    /// The path of a file with the encryption key; nil for a plain file.
    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    @Flag(help: "Print the list of versions and nothing else.")
    var versions = false

    /// The class whose states are printed; nil for all.
    @Option(name: .customLong("class"), help: "Only states of this class.")
    var className: String?

    /// The kinds that are printed, with commas.
    @Option(help: "Only these kinds, with commas: changed, deleted, unattributed, unfinished, present.")
    var kind: String?

    /// The version from which on states are printed.
    @Option(help: "Only states with a proved version from this one on, and those without a proved version.")
    var since: UInt64?

    /// The certainties that are printed, with commas.
    @Option(help: "Only these certainties, with commas: A, B, C.")
    var certainty: String?

    /// The form of the output.
    @Option(help: "ndjson, json (one document) or csv (with --class).")
    var format = RecoveryFormat.ndjson

    /// Whether the nodes of all values are listed.
    @Flag(help: "Lists the offset of the node of each value, and why it is believed.")
    var evidence = false

    /// Whether present states are printed too.
    @Flag(help: "Also the present states.")
    var all = false

    /// The seconds after which the search ends.
    @Option(help: "Ends the search after this time with what was found.")
    var seconds: Double = 120

    /// The path of the file that is written; nil for standard output.
    @Option(
        name: [.customShort("o"), .long],
        help: "Writes to this file, which must not exist, in another folder than that of the file.")
    var output: String?

    /// Whether copies next to the file are searched too.
    @Flag(help: "Also searches copies that writers leave next to the file, such as backups before an upgrade.")
    var beside = false

    /// The binary logarithm of the leaf size of the program that wrote the file.
    @Option(help: ArgumentHelp("log2 of the writer's leaf size; 8 for every released SDK.", visibility: .hidden))
    var clusterShift = 8

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard (1...8).contains(clusterShift) else { throw ValidationError("--cluster-shift must be 1 to 8") }
        guard seconds > 0, seconds <= 86_400 else { throw ValidationError("--seconds must be more than 0 and at most 86400") }
        if format == .csv, className == nil { throw ValidationError("--format csv needs --class") }
        if format == .csv, beside || versions {
            throw ValidationError("--format csv cannot be combined with --beside or --versions")
        }
        _ = try kinds()
        _ = try certainties()
    }

    /// Prints the past data that the file still holds.
    ///
    /// - Throws: `ExitCode(1)` when not everything could be searched, `ExitCode(2)` when the file cannot be opened.
    func run() throws {
        var isComplete = true
        try reporting {
            let key = try keyFile.map { try EncryptionKey(contentsOfFile: $0) }
            var sink = try RecoverySink(output, evidenceFile: file)
            let others = beside ? EvidenceSurroundings(ofFile: file).copies : []
            for path in [file] + others {
                isComplete = try search(path, key, isCopy: path != file, of: others.count + 1, &sink) && isComplete
            }
            try sink.finish()
        }
        if !isComplete { throw ExitCode(1) }
    }

    /// Searches a file and prints the findings.
    ///
    /// - Returns: Whether everything was searched.
    private func search(_ path: String, _ key: EncryptionKey?, isCopy: Bool, of fileCount: Int, _ sink: inout RecoverySink) throws
        -> Bool
    {
        guard let (evidenceFile, recovery) = try recovery(of: path, key, isCopy: isCopy) else { return false }
        let (kinds, certainties) = (try kinds(), try certainties())
        let lines = recovery.lines.filter { line in
            (kinds?.contains(line.kind) ?? true) && (certainties?.contains(line.certainty) ?? true)
                && (since.map { since in line.versions.isEmpty || line.versions.contains { $0 >= since } } ?? true)
        }
        let report = RecoveryReport(
            recovery, lines, tool: "\(RealmRest.configuration.commandName ?? "") \(RealmRest.configuration.version)",
            options: optionWords, fileName: fileCount > 1 ? path : nil)
        if versions {
            try sink.write(recovery.versionsLine() + [0x0a])
        } else {
            switch format {
            case .ndjson: try report.writeLines(hasEvidence: evidence) { try sink.write($0) }
            case .json: try report.writeDocument(hasEvidence: evidence) { try sink.write($0) }
            case .csv: try report.writeTable { try sink.write($0) }
            }
        }
        if report.digestAfter != evidenceFile.digest {
            StandardStreams.error("'\(path)' changed while it was searched, or cannot be read any more")
            return false
        }
        for reason in recovery.incomplete { StandardStreams.error("'\(path)' was not searched completely: \(reason)") }
        return recovery.isComplete
    }

    /// Searches a file. A copy that cannot be opened is named on standard error.
    ///
    /// - Returns: The file and its past data; nil for a copy that cannot be opened.
    private func recovery(of path: String, _ key: EncryptionKey?, isCopy: Bool) throws -> (EvidenceFile, Recovery)? {
        var options = Recovery.Options()
        options.className = className
        // The present data of a copy is the past of the file.
        options.includesPresent = all || isCopy
        options.onlyVersions = versions
        options.seconds = seconds
        options.clusterShift = clusterShift
        do throws(StorageError) {
            let file = try EvidenceFile(path: path, key: key)
            return (file, try Recovery(file, options))
        } catch {
            guard isCopy else { throw error }
            StandardStreams.error("'\(path)': \(error)")
            return nil
        }
    }

    /// The options that select the output, as the output states them.
    private var optionWords: [String] {
        var words: [String] = []
        if let className { words.append("--class \(className)") }
        if let kind { words.append("--kind \(kind)") }
        if let since { words.append("--since \(since)") }
        if let certainty { words.append("--certainty \(certainty)") }
        for (isSet, word) in [(evidence, "--evidence"), (all, "--all"), (beside, "--beside")] where isSet { words.append(word) }
        return words
    }

    /// The kinds that are printed; nil for all.
    private func kinds() throws -> [RecoveredLine.Kind]? {
        try kind.map { text in
            try text.split(separator: ",").map { word in
                guard let kind = RecoveredLine.Kind(rawValue: String(word)) else {
                    throw ValidationError(
                        "there is no kind '\(word)'; there are \(RecoveredLine.Kind.allCases.map(\.rawValue).joined(separator: ", "))"
                    )
                }
                return kind
            }
        }
    }

    /// The certainties that are printed; nil for all.
    private func certainties() throws -> [RecoveredLine.Certainty]? {
        try certainty.map { text in
            try text.split(separator: ",").map { word in
                guard let certainty = RecoveredLine.Certainty(rawValue: String(word)) else {
                    throw ValidationError("there is no certainty '\(word)'; there are A, B and C")
                }
                return certainty
            }
        }
    }
}

/// The forms of the output of `realm-rest recover`.
enum RecoveryFormat: String, ExpressibleByArgument, CaseIterable {
    /// A line for each state.
    case ndjson
    /// One document.
    case json
    /// A table of one class.
    case csv
}
