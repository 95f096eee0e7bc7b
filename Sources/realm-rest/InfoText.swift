// SPDX-License-Identifier: Apache-2.0

import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// The output of `realm-rest info` for people: a fact on each line.
struct InfoText {
    /// The lines so far, each with its final newline.
    private(set) var text = ""
    private let file: FileInspection

    /// The number of characters that the names of facts take.
    private static let width = 16

    /// Makes the lines about a file.
    ///
    /// - Parameters:
    ///   - name: Its name in the first line.
    init(_ file: FileInspection, name: String) {
        self.file = file
        line("File", name)
        line("What", what)
        if let writers = file.glance.format.flatMap(FileFormat.writers) { line("Written by", writers) }
        if let isEncrypted = file.isEncrypted { line("Encrypted", isEncrypted ? "yes" : "no") }
        line("Size", size)
        if file.glance.isStreaming == true { line("Form", "streaming, as copies and backups are written") }
        if let contents = file.contents {
            describe(contents)
        } else if let failure = file.failure {
            line("Contents", "unknown: \(failure)")
        }
        line("When served", file.failure == nil ? file.outlook.text : "refused")
        if let advice = file.outlook.advice { line("", advice) }
    }

    /// Adds a line.
    private mutating func line(_ name: String, _ value: String) {
        let padding = String(repeating: " ", count: max(1, InfoText.width - name.count))
        text += name + padding + StandardStreams.printable(value) + "\n"
    }

    /// The kind of file.
    private var what: String {
        switch file.isRealm {
        case nil: return "an encrypted Realm file, or not a Realm file: only the key shows which"
        case false?: return "no Realm file"
        case true?: break
        }
        guard let format = file.glance.format else { return "an encrypted Realm file, whose format is not known without its key" }
        return format == 0 ? "a Realm file to which nothing was ever written" : "a Realm file of format \(format)"
    }

    /// Its size, and the used part of it.
    private var size: String {
        let whole = "\(file.glance.byteCount) bytes"
        guard let contents = file.contents else { return whole }
        return "\(whole): \(contents.usedBytes) in use, \(contents.freeBytes) free"
    }

    /// Adds the lines about the newest version.
    private mutating func describe(_ contents: FileInspection.Contents) {
        line("Schema version", contents.schemaVersion.map { "\($0)" } ?? "none")
        if let version = contents.version { line("Version", "\(version)") }
        if let history = file.historyText { line("History", history) }
        let classes = contents.tables.filter { $0.className != nil }
        let total = classes.reduce(0) { sum, table in Int(clamping: UInt(sum) + UInt(table.count)) }
        line("Classes", classes.isEmpty ? "none" : "\(classes.count) with \(InfoText.count(total, "object", "objects"))")
        for table in classes {
            var facts = InfoText.count(table.count, "object", "objects")
            facts += ", " + InfoText.count(table.propertyCount, "property", "properties")
            if table.kind != .topLevel { facts += ", \(table.kind)" }
            line("", "\(table.className ?? ""): \(facts)")
        }
        let others = contents.tables.filter { $0.className == nil }
        guard !others.isEmpty else { return }
        line("Other tables", others.map { "\($0.name) (\(InfoText.count($0.count, "row", "rows")))" }.joined(separator: ", "))
    }

    static func count(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }
}
