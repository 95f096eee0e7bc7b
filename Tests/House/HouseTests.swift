// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The rules of the house that a compiler does not check, counted in the sources.
@Suite struct HouseTests {
    /// The folders of `Sources` in the order in which docs/ARCHITECTURE.md lists them, from the ground up.
    private static func listedFolders() throws -> [String] {
        let document = SourceTree.packageRoot.appendingPathComponent("docs/ARCHITECTURE.md")
        let lines = try String(contentsOf: document, encoding: .utf8).split(separator: "\n")
        let targets = [
            "RealmConsole", "RealmPlatform", "RealmStorage", "RealmVerify", "RealmRecovery", "RealmLegacy", "RealmQuery",
            "RealmEngine", "RealmReplica", "WebClient", "RealmFormats", "RealmBackups", "MicroHTTP", "RealmAccess", "RealmCalls",
            "RealmHosting", "RealmHTTP", "realm-rest",
        ]
        return lines.compactMap { line in
            guard line.hasPrefix("| `"), let end = line.dropFirst(3).firstIndex(of: "`") else { return nil }
            let folder = line.dropFirst(3)[..<end]
            return targets.contains(String(folder.prefix { $0 != "/" })) ? String(folder) : nil
        }
    }

    @Test func `every folder of Sources has its row in docs/ARCHITECTURE.md`() throws {
        let listed = try HouseTests.listedFolders()
        let present = try Set(SourceTree.shared.get().files.map(\.folder))
        #expect(present.subtracting(listed).sorted() == [], "folders without a row")
        #expect(Set(listed).subtracting(present).sorted() == [], "rows without a folder")
        #expect(Set(listed).count == listed.count, "a folder has two rows")
    }

    @Test func `files that documents name exist`() throws {
        let paths = try SourceTree.shared.get().files.map { "/" + $0.path }
        for name in ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"] {
            let text = try String(contentsOf: SourceTree.packageRoot.appendingPathComponent(name), encoding: .utf8)
            let parts = text.split(separator: "`", omittingEmptySubsequences: false)
            for part in parts where part.hasSuffix(".swift") && !part.contains("…") {
                #expect(paths.contains { $0.hasSuffix("/" + part) }, "\(name) names \(part)")
            }
        }
    }

    @Test func `a folder uses only folders that docs/ARCHITECTURE.md lists before it`() throws {
        let listed = try HouseTests.listedFolders()
        let order = Dictionary(listed.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let wrong = try SourceTree.shared.get().arrows().filter { arrow, _ in
            guard let from = order[arrow.from], let to = order[arrow.to] else { return false }
            return to > from
        }
        for (arrow, uses) in wrong.sorted(by: { ($0.key.from, $0.key.to) < ($1.key.from, $1.key.to) }) {
            Issue.record("\(arrow.from) uses \(arrow.to), which is listed after it: \(uses.sorted().joined(separator: ", "))")
        }
    }

    /// A reader of a file finds its tests by the name of its folder.
    @Test func `folders of tests have the names of folders of what they test`() throws {
        let sources = try Set(SourceTree.shared.get().files.map(\.folder))
        let tests = SourceTree.packageRoot.appendingPathComponent("Tests")
        let files = try SourceTree.swiftFiles(below: tests).map { $0.path.dropFirst(tests.path.count + 1) }
        let folders = Set(files.map { $0.split(separator: "/").dropLast().joined(separator: "/") })
        for folder in folders.sorted() {
            let parts = folder.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2, parts[0].hasSuffix("Tests"), parts[1] != "Support" else { continue }
            // Whole requests are about every module.
            let isKnown =
                parts[0] == "RealmHTTPTests"
                ? sources.contains { $0 == parts[1] || $0.hasSuffix("/" + parts[1]) }
                : sources.contains(parts[0].dropLast("Tests".count) + "/" + parts[1])
            if !isKnown { Issue.record("Tests/\(folder) has no folder of this name in Sources") }
        }
    }

    /// A suite that was renamed would run beside the others again.
    @Test func `the suites that run alone exist`() throws {
        let tests = SourceTree.packageRoot.appendingPathComponent("Tests")
        let script = try String(contentsOf: tests.appendingPathComponent("run.sh"), encoding: .utf8)
        let list = try #require(script.split(separator: "\n").first { $0.hasPrefix("measuring=") })
        let names = list.split { !$0.isLetter }.map(String.init).filter { $0.hasSuffix("Tests") }
        let present = try Set(SourceTree.swiftFiles(below: tests).map { $0.deletingPathExtension().lastPathComponent })
        #expect(!names.isEmpty && names.filter { !present.contains($0) } == [])
    }

    /// A reader finds a type by the list of files, or in the only file that names it.
    @Test func `at most one type in twenty is in a file of another name`() throws {
        let files = try SourceTree.shared.get().files
        let types = files.flatMap { file in file.declarations.filter(\.isTopLevel).map { (file, $0.name) } }
        let others = types.filter { file, name in
            file.subject != name && files.contains { $0.path != file.path && $0.words.contains(name) }
        }
        #expect(others.count * 20 <= types.count, "\(others.map { "\($0.1) in \($0.0.path)" }.joined(separator: "\n"))")
    }

    @Test func `no function takes four values in a row without labels`() throws {
        for file in try SourceTree.shared.get().files {
            for function in file.functions where function.longestUnlabelledRun >= 4 {
                Issue.record(
                    "\(file.path): \(function.name) has \(function.longestUnlabelledRun) parameters in a row without labels")
            }
        }
    }

    /// A pointer is as safe as the code around it, so a reader wants to know where they all are.
    @Test func `only the places that docs/ARCHITECTURE.md lists name pointer types`() throws {
        let document = SourceTree.packageRoot.appendingPathComponent("docs/ARCHITECTURE.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let start = try #require(text.range(of: "**Where pointers live.**")?.upperBound)
        let end = try #require(text.range(of: "\n\n", range: start..<text.endIndex)?.lowerBound)
        let places = text[start..<end].split(separator: "`").filter { $0.contains("/") && !$0.contains(" ") }.map(String.init)
        let files = try SourceTree.shared.get().files.filter(\.namesPointers)
        for file in files where !places.contains(where: { file.path.hasPrefix($0 + "/") || file.path == $0 + ".swift" }) {
            Issue.record("\(file.path) names a pointer type")
        }
        for place in places where !files.contains(where: { $0.path.hasPrefix(place) }) {
            Issue.record("docs/ARCHITECTURE.md lists \(place), which names no pointer type")
        }
    }
}
