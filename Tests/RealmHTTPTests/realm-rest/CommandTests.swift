// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

@Suite("The command line beside a server", .enabled(if: ServerProcess.executable != nil, "the executable is not built"))
struct CommandTests {
    func run(
        _ arguments: [String], seconds: Double = 60, environment: [String: String] = [:]
    ) throws -> (status: Int32, error: String) {
        let executable = try #require(ServerProcess.executable)
        let process = Process()
        let error = Pipe()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
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
        let result = try run(["watch", url] + options)
        #expect(result.status == 1)
        #expect(result.error.contains("class_not_found"))
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] == nil, "what a crash tells is set from outside"))
    func `a crash would tell nothing of what is in memory`() throws {
        let server = try ServerProcess(["--memory", "r"])
        let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(server.process.processIdentifier)/environ"))
        #expect(String(decoding: environment, as: UTF8.self).contains("SWIFT_BACKTRACE=registers=none"))
        #expect(server.stop() == 0)
    }
}
