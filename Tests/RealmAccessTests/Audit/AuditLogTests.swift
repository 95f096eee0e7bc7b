// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// The file of the audit log: what is in it after a crash, how it is replaced, and what happens when it cannot be written.
@Suite struct AuditLogTests {
    private func log(
        _ folder: AuditFolder, _ events: EventList = EventList(), change: (inout AuditOptions) -> Void = { _ in }
    ) throws -> AuditLog {
        var options = AuditOptions()
        options.file = folder.path
        change(&options)
        return try #require(try AuditLog(options) { event, _, _ in events.add("\(event)") })
    }

    /// Adds entries in parts, each of which the log writes by itself.
    private func addSlowly(parts: Int, of count: Int, to log: AuditLog) {
        for part in 0..<parts {
            add(part * count..<(part + 1) * count, to: log)
            Threads.sleep(seconds: 0.03)
        }
    }

    private func add(_ numbers: Range<Int>, to log: AuditLog, _ name: String = "n") {
        for number in numbers {
            var entry = AuditEntry(kind: .administration)
            entry.requestID = "\(name)\(number)"
            log.append(entry)
        }
    }

    private func ids(_ folder: AuditFolder) throws -> [String] { try folder.lines().compactMap { $0["id"]?.text } }

    private func write(_ text: String, _ folder: AuditFolder) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path))
    }

    // MARK: - The file

    @Test func `the file is the owner's, lines are there within a moment, and a second run adds to it`() throws {
        let folder = try AuditFolder()
        let first = try log(folder)
        add(0..<3, to: first)
        #expect(try eventually { try ids(folder) == ["n0", "n1", "n2"] })
        #expect(NodeStatus(at: folder.path)?.permissions == 0o600)
        first.close()
        let second = try log(folder)
        add(3..<5, to: second)
        second.close()
        #expect(try ids(folder) == (0..<5).map { "n\($0)" })
        // What comes after the end is lost, and counted.
        add(5..<6, to: second)
        #expect(second.counts.lost == 1 && second.counts.lines == 2)
    }

    @Test(arguments: [
        "", "{", "{\"time\":\"", "{\"time\":\"2026-01-01T00:00:00.000Z\",\"kind\":\"wri",
        String(repeating: "\u{0}", count: 200_000),
        "{\"time\":\"" + String(repeating: "x", count: 100_000),
    ])
    func `what a crash has left of a line is removed`(_ rest: String) throws {
        let folder = try AuditFolder()
        let whole = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"kind\":\"write\",\"id\":\"old\"}\n"
        for (start, kept) in [(whole, ["old"]), ("", [])] where !start.isEmpty || AuditLogTests.isStart(rest) {
            try write(start + rest, folder)
            let events = EventList()
            let log = try log(folder, events)
            add(0..<1, to: log)
            log.close()
            #expect(try ids(folder) == kept + ["n0"])
            #expect(events.all.contains("audit_mended") == !rest.isEmpty)
        }
    }

    private static func isStart(_ text: String) -> Bool { "{\"time\":\"".hasPrefix(text.prefix(9)) }

    @Test(arguments: ["hello", "hello\n", "{\"other\":1}\n", "\n", "\u{0}\u{0}", "{\"time\":1}"])
    func `another file is left alone`(_ text: String) throws {
        let folder = try AuditFolder()
        try write(text, folder)
        #expect(throws: StorageError.self) { try log(folder) }
        #expect(try folder.text() == text)
    }

    @Test func `a folder, a pipe and a place without a folder are refused`() throws {
        let folder = try AuditFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        #expect(throws: StorageError.self) { try log(folder) }
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(unsafe mkfifo(folder.path, 0o600) == 0)
        #expect(throws: StorageError.self) { try log(folder) }
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(throws: StorageError.self) { try log(folder) { $0.file = folder.folder + "/none/audit.log" } }
        #expect(throws: StorageError.self) { try log(folder) { $0.file = "/dev/full" } }
        let none = try AuditLog(AuditOptions()) { _, _, _ in }
        #expect(none == nil)
    }

    // MARK: - Rotation

    @Test func `a file that is long enough gets another name, and as many are kept as were asked for`() throws {
        let folder = try AuditFolder()
        let log = try log(folder) { options in
            options.rotationBytes = 4096
            options.keptCount = 3
        }
        addSlowly(parts: 40, of: 10, to: log)
        log.close()
        #expect(try folder.names() == ["audit.log.3", "audit.log.2", "audit.log.1", "audit.log"])
        for name in try folder.names() {
            let status = try #require(NodeStatus(at: folder.folder + "/" + name))
            #expect(status.byteCount <= 4096 && status.permissions == 0o600, "\(name): \(status)")
        }
        let found = try ids(folder)
        // The oldest are gone, the rest is there in order.
        #expect(found == (400 - found.count..<400).map { "n\($0)" } && found.count > 100)
    }

    @Test func `rotation under load loses nothing`() throws {
        let folder = try AuditFolder()
        let log = try log(folder) { options in
            options.rotationBytes = 64 << 10
            options.keptCount = 1000
        }
        let threads = 4
        let each = 5000
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for number in 0..<each {
                add(number..<number + 1, to: log, "t\(thread)-")
                if number % 500 == 0 { Threads.sleep(seconds: 0.01) }
            }
        }
        log.close(seconds: 60)
        #expect(try folder.names().count > 10)
        let found = try ids(folder)
        #expect(found.count == threads * each && log.counts.lost == 0)
        for thread in 0..<threads {
            #expect(found.filter { $0.hasPrefix("t\(thread)-") } == (0..<each).map { "t\(thread)-\($0)" })
        }
    }

    @Test func `a file whose neighbours cannot be renamed only grows`() throws {
        let folder = try AuditFolder()
        // A folder in the place of the first earlier file cannot be replaced by a file.
        try FileManager.default.createDirectory(atPath: folder.path + ".1/inside", withIntermediateDirectories: true)
        let events = EventList()
        let log = try log(folder, events) { options in
            options.rotationBytes = 4096
            options.keptCount = 1
        }
        addSlowly(parts: 10, of: 20, to: log)
        log.close()
        let text = try String(contentsOfFile: folder.path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 200)
        #expect(events.all == ["audit_not_rotated"])
        #expect(log.isWritten && log.counts.failures == 0)
    }

    @Test func `a file that was given another name is left alone, at the latest when that is said`() throws {
        let folder = try AuditFolder()
        let log = try log(folder)
        add(0..<2, to: log)
        #expect(try eventually { try ids(folder).count == 2 })
        try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".1")
        log.reopen()
        add(2..<4, to: log)
        #expect(try eventually { try ids(folder).count == 4 })
        #expect(try String(contentsOfFile: folder.path + ".1", encoding: .utf8).split(separator: "\n").count == 2)
        // Without a word, and where the tool has made a new file already, with a mode of its own.
        try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".0")
        #expect(FileManager.default.createFile(atPath: folder.path, contents: nil, attributes: [.posixPermissions: 0o640]))
        add(4..<6, to: log)
        log.close()
        #expect(try String(contentsOfFile: folder.path, encoding: .utf8).split(separator: "\n").count == 2)
        #expect(NodeStatus(at: folder.path)?.permissions == 0o640)
        #expect(try Set(ids(folder)).count == 6)
    }

    // MARK: - Failures

    @Test func `while the file cannot be written lines wait, and come in their order`() throws {
        let folder = try AuditFolder()
        let events = EventList()
        let log = try log(folder, events) { $0.isRequired = true }
        add(0..<2, to: log)
        #expect(try eventually { try ids(folder).count == 2 } && log.admits())
        let away = folder.folder + "-away"
        defer { try? FileManager.default.removeItem(atPath: away) }
        try FileManager.default.moveItem(atPath: folder.folder, toPath: away)
        #expect(eventually { !log.isWritten })
        #expect(!log.admits() && log.counts.refusals == 1 && log.counts.failures > 0)
        add(2..<50, to: log)
        Threads.sleep(seconds: 0.6)
        try FileManager.default.moveItem(atPath: away, toPath: folder.folder)
        #expect(eventually { log.isWritten } && log.admits())
        add(50..<60, to: log)
        log.close()
        #expect(try ids(folder) == (0..<60).map { "n\($0)" })
        #expect(events.all == ["audit_unavailable", "audit_available"])
        #expect(log.counts.lost == 0)
    }

    @Test func `lines beyond the bound are counted, and a line says how many are missing`() throws {
        let folder = try AuditFolder()
        let log = try log(folder)
        let away = folder.folder + "-away"
        defer { try? FileManager.default.removeItem(atPath: away) }
        try FileManager.default.moveItem(atPath: folder.folder, toPath: away)
        #expect(eventually { !log.isWritten })
        var entry = AuditEntry(kind: .write)
        entry.requestID = String(repeating: "x", count: 240)
        var count = 0
        while log.counts.lost < 5, count < 1_000_000 {
            log.append(entry)
            count += 1
        }
        // It is not required, so things go on.
        #expect(log.admits() && log.counts.lost == 5)
        try FileManager.default.moveItem(atPath: away, toPath: folder.folder)
        #expect(eventually { log.isWritten })
        add(0..<1, to: log)
        log.close(seconds: 60)
        let lines = try folder.text().split(separator: "\n")
        #expect(lines.count == count - 5 + 2)
        let missing = try lines.suffix(2).map { try ParsedJSON(parsing: String($0)) }
        #expect(missing.contains { $0["kind"] == "lost" && $0["lines"] == 5 }, "\(missing)")
    }

    @Test func `a required log with too much to write admits nothing more`() throws {
        let folder = try AuditFolder()
        let log = try log(folder) { options in
            options.isRequired = true
            options.refusingByteCount = 1000
        }
        // Lines gather for a moment after each write.
        var refused = false
        for number in 0..<100_000 where !refused {
            add(number..<number + 1, to: log)
            refused = !log.admits()
        }
        #expect(refused && log.counts.lost == 0 && log.counts.refusals == 1)
        #expect(eventually { log.admits() })
        log.close(seconds: 60)
        #expect(!log.admits())
    }
}
