// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

@Suite("The command line beside a server")
struct CommandTests {
    private func run(_ arguments: [String], seconds: Double = 60) throws -> (status: Int32, error: String)? {
        guard let executable = ServerProcess.executable else { return nil }
        let process = Process()
        let error = Pipe()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardError = error
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let end = Date().addingTimeInterval(seconds)
        while process.isRunning, Date() < end { usleep(20_000) }
        guard !process.isRunning else {
            process.terminate()
            process.waitUntilExit()
            return (-1, "still running")
        }
        return (process.terminationStatus, String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
    }

    /// It waited for more of a document that had come whole, for as long as the connection was kept alive.
    @Test(arguments: [[], ["--once"]])
    func `watch prints a problem and ends`(_ options: [String]) throws {
        let server = try ChangeServer()
        try server.makeRealm("r", classes: #"[{"name":"P","properties":[{"name":"n","type":"int"}]}]"#)
        let url = "http://127.0.0.1:\(server.port)/v1/realms/r/changes?class=Prodct"
        guard let result = try run(["watch", url] + options) else { return }
        #expect(result.status == 1)
        #expect(result.error.contains("class_not_found"))
    }

    @Test func `a crash would tell nothing of what is in memory`() throws {
        guard ServerProcess.executable != nil, ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] == nil else { return }
        let server = try ServerProcess(["--memory", "r"])
        let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(server.process.processIdentifier)/environ"))
        #expect(String(decoding: environment, as: UTF8.self).contains("SWIFT_BACKTRACE=registers=none"))
        #expect(server.stop() == 0)
    }
}
