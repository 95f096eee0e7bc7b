// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The lines around the states: what was examined, and what was found and not found.
extension Recovery {
    /// Whether everything was looked at, and the present version is sound.
    package var isComplete: Bool { incomplete.isEmpty && presentDamage == nil }

    /// The limits of all recoveries, in the words of docs/recovery.md.
    package static let limits = [
        "No commit carries a date: versions are in order by number, and nothing says when one was made.",
        "Data that was not found may have existed: space is reused.",
        "Proved means: proved, unless a commit was cut short without a trace.",
        "Deleted means that an object of a former version is not in the present one, for whatever reason.",
        "Values in `unproven` need not have stood together, and may be those of another object.",
    ]

    /// Returns the line `$begin`.
    ///
    /// - Parameters:
    ///   - tool: The name and version of the program.
    ///   - options: The options of the command, as words.
    ///   - surroundings: The files next to the file.
    package func beginLine(tool: String, options: [String], _ surroundings: EvidenceSurroundings) -> [UInt8] {
        var text = Array("{\"$begin\":{".utf8)
        text.append(member: "tool", string: tool)
        text.append(member: "options", array: options) { $0.append(string: $1) }
        text.append(member: "sha256", string: FileDigest.hex(file.digest))
        text.append(member: "bytes", number: file.byteCount)
        text.append(member: "encrypted", flag: file.isEncrypted)
        text.append(member: "format", number: header.format)
        text.append(member: "liveVersion", number: present.number)
        text.append(member: "logicalSize", number: present.top.logicalSize)
        text.append(member: "tailBytes", number: max(0, Int64(clamping: map.limit) - Int64(clamping: present.top.logicalSize)))
        text.append(member: "freeBytes", number: map.unusedByteCount)
        text.append(member: "liveDamaged")
        if let presentDamage { text.append(string: presentDamage) } else { text.append(json: "null") }
        text.append(member: "unreadablePages", number: file.unreadablePages.count)
        text.append(member: "pagesOfOlderWrite", array: file.pagesOfOlderWrite) { $0.append(digitsOf: Int64($1)) }
        text.append(member: "commitCutShort", flag: isCommitCutShort)
        text.append(member: "versions", array: versions) { $0 += Recovery.json($1) }
        text.append(member: "beside", array: surroundings.names) { $0.append(string: $1) }
        if let lock = surroundings.lock {
            text.append(member: "lock")
            text.append(UInt8(ascii: "{"))
            text.append(member: "participants", number: lock.participants)
            text.append(member: "newestVersion", number: lock.newestVersion)
            text.append(UInt8(ascii: "}"))
        }
        text.append(json: "}}")
        return text
    }

    /// Returns the line `$end`.
    ///
    /// - Parameters:
    ///   - shown: The lines that were written.
    ///   - digestAfter: The SHA-256 of the file after the search; nil when it cannot be read any more.
    package func endLine(_ shown: [RecoveredLine], digestAfter: [UInt8]?) -> [UInt8] {
        var text = Array("{\"$end\":{".utf8)
        text.append(member: "states", number: shown.count)
        text.append(member: "counts")
        text += Recovery.counts(of: shown)
        text.append(member: "orphanLeaves", number: orphanCount)
        text.append(member: "headersInFreeSpace", number: map.headerCount)
        text.append(member: "incomplete", array: incomplete) { $0.append(string: $1) }
        text.append(member: "limits", array: Recovery.limits) { $0.append(string: $1) }
        text.append(member: "seconds")
        text.append(digitsOf: UInt64(max(seconds, 0) * 100) / 100)
        text.append(UInt8(ascii: "."))
        text.append(digitsOf: UInt64(max(seconds, 0) * 100) % 100, digitCount: 2)
        text.append(member: "sha256After")
        if let digestAfter { text.append(string: FileDigest.hex(digestAfter)) } else { text.append(json: "null") }
        text.append(member: "unchanged", flag: digestAfter == file.digest)
        text.append(json: "}}")
        return text
    }

    /// Returns the numbers of lines of each kind and certainty, as a JSON object.
    package static func counts(of lines: [RecoveredLine]) -> [UInt8] {
        var text = Array("{".utf8)
        for kind in RecoveredLine.Kind.allCases {
            let count = lines.count(where: { $0.kind == kind })
            if count > 0 { text.append(member: kind.rawValue, number: count) }
        }
        for certainty in RecoveredLine.Certainty.allCases {
            let count = lines.count(where: { $0.certainty == certainty })
            if count > 0 { text.append(member: "grade \(certainty.rawValue)", number: count) }
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The names of classes that had several tables, so that a key of an object does not name one object of all time.
    package var classesOfSeveralTables: [String] {
        var names: [String] = []
        var seen: [String] = []
        for key in catalog.keys {
            guard let name = catalog.table(key)?.className else { continue }
            if seen.contains(name), !names.contains(name) { names.append(name) }
            seen.append(name)
        }
        return names
    }

    /// Returns the document of the versions alone.
    package func versionsLine() -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "liveVersion", number: present.number)
        text.append(member: "commitCutShort", flag: isCommitCutShort)
        text.append(member: "versions")
        text += versionsArray
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The former and unfinished versions as a JSON array.
    package var versionsArray: [UInt8] {
        var text = Array("[".utf8)
        for (index, version) in versions.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += Recovery.json(version)
        }
        return text + [UInt8(ascii: "]")]
    }

    private static func json(_ version: FormerVersion) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "version", number: version.number)
        text.append(member: "top")
        text.append(ref: version.top.ref)
        text.append(member: "source", string: version.source.rawValue)
        text.append(member: "state", string: version.state.rawValue)
        text.append(member: "nodes", number: version.nodeCount)
        text.append(member: "unproven", number: version.unprovenCount)
        text.append(member: "lost", number: version.lostCount)
        text.append(member: "classes", array: version.tables.filter(\.isClass)) { $0.append(string: $1.className) }
        text.append(member: "freeLists", flag: version.top.free != nil)
        if version.isUnfinished { text.append(member: "unfinished", flag: true) }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
