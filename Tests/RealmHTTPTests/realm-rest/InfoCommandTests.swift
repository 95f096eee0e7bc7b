// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// `realm-rest info`, and what `dump` says of old files.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct InfoCommandTests {
    private func run(_ arguments: [String]) throws -> (status: Int32, output: String, error: String) {
        let process = Process()
        let (output, error) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(ServerProcess.executable))
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let message = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, message)
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "info-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try body(path)
    }

    private static let key: String = Fixtures.key.map { String(format: "%02x", $0) }.joined()

    @Test func `a file is described in lines and as JSON`() throws {
        let path = try Fixtures.path("embedded")
        let lines = try run(["info", path])
        #expect(lines.status == 0 && lines.error.isEmpty)
        #expect(lines.output.contains("What            a Realm file of format 24\n"), "\(lines.output)")
        #expect(lines.output.contains("Encrypted       no\n") && lines.output.contains(", embedded\n"), "\(lines.output)")
        let json = try ParsedJSON(parsing: Array(try run(["info", path, "--json"]).output.utf8))
        #expect(json["fileFormat"]?.int == 24 && json["encrypted"]?.bool == false && json["unknown"]?.elements?.isEmpty == true)
        let history = try #require(json["historyText"]?.text)
        #expect(lines.output.contains("History         \(history)\n") && json["history"]?.text != nil, "\(lines.output)")
        let counts = (json["classes"]?.elements ?? []).map { $0["objects"]?.int }
        #expect(counts == (try #require(try Fixtures.dump("embedded")))["classes"]?.elements?.map { $0["count"]?.int })
    }

    @Test func `a path in an error has nothing that controls a terminal`() throws {
        let path = NSTemporaryDirectory() + "a\u{1b}[31m\nb-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("embedded"))).write(to: URL(fileURLWithPath: path))
        for arguments in [["upgrade", path], ["upgrade", path, "--to", path]] {
            let (status, _, error) = try run(arguments)
            #expect(status == 64 && error.contains(".realm'"), "\(error)")
            #expect(!error.utf8.contains(0x1b) && error.split(separator: "\n").count == 1, "\(error)")
        }
    }

    @Test func `an encrypted file needs its key for what it holds, and says so`() throws {
        let path = try Fixtures.path("encrypted")
        let closed = try run(["info", path])
        #expect(closed.status == 2 && closed.output.contains("Encrypted       yes\n"), "\(closed.output)")
        #expect(
            closed.output.contains("Contents        unknown: ") && closed.output.contains("--key-file FILE"), "\(closed.output)")
        let json = try ParsedJSON(parsing: Array(try run(["info", path, "--json"]).output.utf8))
        #expect(json["classes"] == nil && json["problem"]?["code"]?.text == "encryption_key_required")
        #expect(json["unknown"]?.elements?.contains { $0.text == "classes" } == true)
        try withFile(Array(InfoCommandTests.key.utf8)) { key in
            let opened = try run(["info", path, "--key-file", key])
            #expect(opened.status == 0 && opened.output.contains("Classes "), "\(opened.output)\(opened.error)")
        }
    }

    @Test func `statuses are those of the other commands`() throws {
        #expect(try run(["info", "/nowhere/at/all.realm"]).status == 2)
        #expect(try run(["info", "/tmp"]).status == 2)
        try withFile(Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 1, count: 100)) { path in
            let zip = try run(["info", path])
            #expect(
                zip.status == 2 && zip.output.contains("a ZIP archive") && zip.output.contains("no Realm file"), "\(zip.output)")
        }
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try Fixtures.path("lists"))))
        let top = FileEditor(bytes).top
        bytes.replaceSubrange(top..<top + 8, with: [UInt8](repeating: 0xff, count: 8))
        try withFile(bytes) { path in
            let damaged = try run(["info", path])
            #expect(damaged.status == 1 && damaged.output.contains("a Realm file of format 24"), "\(damaged.output)")
            #expect(!damaged.output.contains("Classes "), "\(damaged.output)")
        }
    }

    @Test(arguments: (2...11).compactMap { Fixtures.legacyNames("v\($0)-").first { !$0.contains("encrypted") } })
    func `dump and info state the format that an old file has`(_ name: String) throws {
        let path = try Fixtures.path(name)
        let format = try #require(try Fixtures.dump(name))["fileFormat"]?.int
        let dump = try run(["dump", path])
        #expect(try ParsedJSON(parsing: Array(dump.output.utf8))["file"]?["format"]?.int == format, "\(dump.error)")
        let info = try ParsedJSON(parsing: Array(try run(["info", path, "--json"]).output.utf8))
        #expect(info["fileFormat"]?.int == format && info["writtenBy"]?.text?.hasPrefix("realm-core ") == true)
        #expect(info["opening"]?["mode"]?.text == (try #require(format) < 10 ? "copy" : "ro"))
    }

    @Test func `a dump writes long values in pieces`() throws {
        let path = NSTemporaryDirectory() + "dump-\(UUID().uuidString).realm"
        defer { for end in ["", ".lock"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let count = 200_000
        let text = String(repeating: "é\u{1}\"😀", count: count / 8) + "end"
        let broken = [UInt8](repeating: 0x61, count: count) + [0xff]
        let long = [UInt8](repeating: 1, count: 15 << 20)
        let realm = try ScratchRealm(path: path)
        let key = try realm.transaction.createTable("class_A")
        let storages = [ByteStorage(Array(text.utf8)), ByteStorage(broken), ByteStorage(long)]
        for number in storages.indices { try realm.transaction.addColumn(ColumnDefinition("s\(number)", .string), to: key) }
        try realm.transaction.addColumn(ColumnDefinition("b", .binary), to: key)
        let object = try realm.transaction.createObject(in: key)
        let columns = try realm.transaction.table(key)
        for (number, storage) in storages.enumerated() {
            let column = try #require(columns.column(named: "s\(number)"))
            try realm.transaction.set(.string(storage.view), column, of: object, in: key)
        }
        let column = try #require(columns.column(named: "b"))
        try realm.transaction.set(.binary(storages[1].view), column, of: object, in: key)
        try realm.commit()
        try realm.close()
        // Memory for the text of the longest value as JSON, which has six times its bytes, is not there.
        let executable = try #require(ServerProcess.executable)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "ulimit -d 81920; exec \"$@\"", "sh", executable, "dump", path]
        process.standardOutput = output
        try process.run()
        var bytes = output.fileHandleForReading.readDataToEndOfFile()
        // The longest value is compared as it stands, since it is too long for the reader of tests.
        let written = Data(String(repeating: #"\u0001"#, count: 15 << 20).utf8)
        let place = try #require(bytes.range(of: written))
        bytes.removeSubrange(place)
        let dump = try ParsedJSON(parsing: Array(bytes))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let table = try #require(dump["tables"]?.elements?.first { $0["class"]?.text == "A" })
        let dumped = try #require(table["objects"]?.elements?.first?["values"])
        let hex = String(repeating: "61", count: count) + "ff"
        #expect(dumped["s0"]?.text.map { Array($0.utf8) } == Array(text.utf8))
        #expect(dumped["s1"]?["invalidUtf8"]?.text == hex)
        #expect(dumped["s2"]?.text == "")
        #expect(dumped["b"]?.text == hex)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends an upgrade when what it made beside the file is gone`(_ signal: Int32) throws {
        try withFile(try LegacyFixtures.bytes("v9-example")) { path in
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            defer { for end in [".lock", ".v9.backup"] { try? FileManager.default.removeItem(atPath: path + end) } }
            let executable = try #require(ServerProcess.executable)
            // The signal waits for the process, which inherits that it is blocked, so it is there before the work begins.
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            let script = """
                import os, signal, sys
                signal.signal(\(signal), signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_BLOCK, [\(signal)])
                os.kill(os.getpid(), \(signal))
                os.execv(sys.argv[1], sys.argv[1:])
                """
            process.arguments = ["-c", script, executable, "upgrade", path]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            #expect(!FileManager.default.fileExists(atPath: path + ".v9.backup"))
        }
    }

    @Test func `a signal that is ignored, as under nohup, does not end an upgrade`() throws {
        try withFile(try LegacyFixtures.bytes("v9-example")) { path in
            defer { for end in [".lock", ".v9.backup"] { try? FileManager.default.removeItem(atPath: path + end) } }
            let executable = try #require(ServerProcess.executable)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            let script = """
                import os, signal, sys
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
                os.kill(os.getpid(), signal.SIGHUP)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
                os.execv(sys.argv[1], sys.argv[1:])
                """
            process.arguments = ["-c", script, executable, "upgrade", path]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 0)
            #expect(FileManager.default.fileExists(atPath: path + ".v9.backup"))
        }
    }

    @Test func `the first line of an upgrade says from which format to which, and where the copy is`() throws {
        try withFile(try LegacyFixtures.bytes("v9-example")) { path in
            let new = path + ".new.realm"
            defer {
                for end in [".new.realm", ".lock", ".v9.backup"] { try? FileManager.default.removeItem(atPath: path + end) }
            }
            func first(_ arguments: [String]) throws -> String {
                let (status, output, error) = try run(["upgrade", path] + arguments)
                #expect(status == 0, "\(error)")
                return String(output.prefix { $0 != "\n" })
            }
            let name = URL(fileURLWithPath: path).lastPathComponent
            let (made, upgraded, repeated) = (try first(["--to", new]), try first([]), try first([]))
            #expect(made == "\(path): format 9 to 24, written to \(new)")
            #expect(upgraded == "\(path): format 9 to 24, a copy is kept as \(name).v9.backup")
            #expect(repeated == "\(path): format 24, nothing to do")
        }
    }
}
