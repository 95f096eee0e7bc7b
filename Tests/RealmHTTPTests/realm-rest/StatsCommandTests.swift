// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmServerSupport
import RealmTestSupport
import Testing

/// `realm-rest stats` on files of all kinds.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct StatsCommandTests {
    private func run(_ arguments: [String]) throws -> (status: Int32, output: String, error: String) {
        let process = Process()
        let (output, error) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(ServerProcess.executable))
        process.arguments = ["stats"] + arguments
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let message = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, message)
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "stats-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try body(path)
    }

    @Test func `a file is shown by falling size`() throws {
        let path = try Fixtures.path("blob-70k")
        let (status, output, error) = try run([path])
        #expect(status == 0 && error.isEmpty)
        let expected = """
            File            \(path)
            Size            622592 bytes: 608.0 KiB
            Form            format 24, version 3
            After compact   about 332.0 KiB
            Free            278.3 KiB in 7 blocks, the largest of 171.6 KiB

              329.2 KiB   54.1 %  Blob (4 objects)
              196.4 KiB   32.3 %    text
              132.4 KiB   21.8 %    data
                  304 B    0.0 %    (schema)
                   64 B    0.0 %    id: index 48 B
                   16 B    0.0 %    (keys of the objects)
              278.3 KiB   45.8 %  free
                  168 B    0.0 %  metadata (1 row)
                  136 B    0.0 %    (schema)
                   16 B    0.0 %    version
                   16 B    0.0 %    (keys of the rows)
                  112 B    0.0 %  list of tables
                   96 B    0.0 %  lists of free space
                   72 B    0.0 %  history of changes, as SDKs keep it
                   24 B    0.0 %  header

            Largest values
               68.4 KiB  Blob.text of 0
               68.4 KiB  Blob.data of 0
               64.0 KiB  Blob.text of 2
               64.0 KiB  Blob.text of 1
               64.0 KiB  Blob.data of 2
                   24 B  Blob.text of 3

            """
        #expect(output == expected, "\(output)")
    }

    @Test func `the document has the same numbers`() throws {
        let path = try Fixtures.path("blob-70k")
        let (status, output, _) = try run([path, "--format", "json"])
        let json = try ParsedJSON(parsing: Array(output.utf8))
        #expect(status == 0 && json["complete"]?.bool == true && json["fileBytes"]?.int == 622_592)
        #expect(json["free"]?["blocks"]?.int == 7 && json["free"]?["pinnedBytes"] == nil && json["versions"] == nil)
        let blob = try #require(json["classes"]?.elements?.first)
        #expect(blob["name"]?.text == "Blob" && blob["bytes"]?.int == 337_120 && blob["objects"]?.int == 4)
        #expect(json["largest"]?.elements?.first?["bytes"]?.int == 70_016)
        #expect(json["largest"]?.elements?.first?["key"]?.text == "0")
    }

    @Test func `old and encrypted files are read as they are`() throws {
        try withFile(try LegacyFixtures.bytes("v9-example")) { path in
            let (status, output, error) = try run([path])
            #expect(status == 0 && output.contains("format 9") && output.contains("A (3 objects)"), "\(output)\(error)")
            #expect(!output.contains("After compact"), "\(output)")
        }
        let path = try Fixtures.path("encrypted")
        let closed = try run([path])
        #expect(closed.status == 2 && closed.output.isEmpty && closed.error.contains("--key-file FILE"), "\(closed.error)")
        try withFile(Array(Fixtures.key.map { String(format: "%02x", $0) }.joined().utf8)) { key in
            let opened = try run([path, "--key-file", key])
            #expect(opened.status == 0 && opened.output.contains("tables of encrypted pages"), "\(opened.output)")
        }
    }

    @Test func `what cannot be read is listed, and the status says so`() throws {
        let fixture = try Fixtures.path("types-single")
        var editor = FileEditor([UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture))))
        let leaf = editor.values("AllRequired", "intValue", in: try Snapshot(file: try RealmFile(path: fixture)))
        editor.bytes[leaf + 4] |= 0x18
        try withFile(editor.bytes) { path in
            let (status, output, error) = try run([path])
            #expect(status == 1 && error.isEmpty && output.contains("AllRequired (40 objects, not all readable)"), "\(output)")
            #expect(
                output.contains("\nNot readable: 1 node\n  0x\(String(leaf, radix: 16))  AllRequired.intValue: "), "\(output)")
            #expect(output.contains("used by nothing, or not readable"), "\(output)")
        }
        try withFile(Array("no realm at all, but more than 24 bytes".utf8)) { path in
            let status = try run([path]).status
            #expect(status == 2)
        }
        #expect(try run([fixture, "--format", "csv"]).status == 64)
    }
}
