// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Row D26 of the checklist: what is logged, and how that is changed while the server runs.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built")) struct LogRowTests {
    /// A server that writes its log to a file, and is administered through a Unix socket only.
    private struct Logged {
        let server: ServerProcess
        let folder: String

        /// Asks for something and waits until the request is over for the server too, so that the level in force is the one
        /// that it was logged under.
        func get(_ path: String, _ template: String) throws -> Int {
            let before = try count(template)
            let status = try HTTPClient.request(port: server.port, "GET", "/v1/realms/" + path).status
            #expect(try eventually { try count(template) > before })
            return status
        }

        private func count(_ template: String) throws -> Double {
            let metrics = try HTTPClient(unixPath: folder + "/admin.sock").request("GET", "/metrics").text
            return metrics.split(separator: "\n").filter { $0.contains(#"requests_total{route="/v1/realms/\#(template)","#) }
                .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
        }

        func log() throws -> String { try String(contentsOfFile: folder + "/log", encoding: .utf8) }

        /// The lines of the log that are about requests of a kind.
        func lines(_ template: String) throws -> [ParsedJSON] {
            try log().split(separator: "\n").filter { $0.hasPrefix("{") }.map { try ParsedJSON(parsing: String($0)) }
                .filter { $0["route"]?.text == "/v1/realms/" + template }
        }

        func level() throws -> String? { try admin("GET").json["logLevel"]?.text }

        func change(_ level: String) throws { #expect(try admin("PATCH", #"{"logLevel":"\#(level)"}"#).status == 200) }

        func admin(_ method: String, _ body: String? = nil, path: String = "/admin/config") throws -> HTTPClient.Answer {
            try HTTPClient(unixPath: folder + "/admin.sock").request(
                method, path, headers: body == nil ? [] : [WriteServer.json], body: body.map { Array($0.utf8) })
        }
    }

    private func withServer(_ arguments: String, _ body: (Logged) throws -> Void) throws {
        let program = try #require(ServerProcess.executable)
        // The path of a Unix socket has to be short.
        let folder = NSTemporaryDirectory() + "rr-log-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try ServerProcess(
            command:
                "cd '\(folder)' && exec '\(program)' serve --port 0 --memory m --no-admin --admin unix:'\(folder)/admin.sock' "
                + "\(arguments) > >(tee log)")
        try body(Logged(server: server, folder: folder))
        #expect(server.stop() == 0)
    }

    @Test func `D26: requests are logged as lines of JSON from info on, and the level is raised and lowered at run time`() throws
    {
        try withServer("") { logged in
            #expect(try logged.level() == "info")
            let schema = #"{"classes":[{"name":"Item","properties":[{"name":"id","type":"int"}]}]}"#
            let made = try logged.admin("POST", #"{"inMemory":"n","schema":\#(schema)}"#, path: "/v1/realms")
            #expect(made.status == 201, "\(made.text)")
            #expect(
                try logged.get("m", "{realm}") == 200 && logged.get("m/objects/None?limit=7", "{realm}/objects/{class}") == 404)
            #expect(
                try eventually {
                    try logged.lines("{realm}").count == 1 && logged.lines("{realm}/objects/{class}").count == 1
                })
            let line = try #require(try logged.lines("{realm}/objects/{class}").first)
            #expect(line["method"]?.text == "GET" && line["status"]?.int == 404 && line["duration"]?.double != nil, "\(line)")
            // What was not found is told by its path; texts of queries stand nowhere.
            #expect(line["path"]?.text == "/v1/realms/m/objects/None", "\(line)")
            #expect(!line.serialized.contains("limit") && line["query"] == nil, "\(line)")
            // Raised: only what fails is logged, then not that either.
            try logged.change("warning")
            #expect(try logged.level() == "warning")
            #expect(try logged.get("m/schema", "{realm}/schema") == 200)
            #expect(try logged.get("none/schema", "{realm}/schema") == 404)
            #expect(try eventually { try logged.lines("{realm}/schema").count == 1 })
            try logged.change("error")
            #expect(try logged.get("none/export", "{realm}/export") == 404)
            // Lowered: every request again, with the text of its query.
            try logged.change("debug")
            let query = "n/objects/Item?where=id%20%3D%3D%2077"
            #expect(try logged.get(query, "{realm}/objects/{class}") == 200 && logged.get("m/schema", "{realm}/schema") == 200)
            #expect(try eventually { try logged.lines("{realm}/schema").count == 2 })
            #expect(try logged.lines("{realm}/schema").compactMap { $0["status"]?.int } == [404, 200])
            #expect(try logged.lines("{realm}/export").isEmpty)
            #expect(try logged.lines("{realm}/objects/{class}").compactMap { $0["query"]?.text } == ["id == 77"])
            // Strangers do not change it.
            let stranger = try HTTPClient.request(
                port: logged.server.port, "PATCH", "/admin/config", headers: [WriteServer.json],
                body: Array(#"{"logLevel":"error"}"#.utf8))
            #expect(stranger.status == 404, "\(stranger.text)")
            #expect(try logged.level() == "debug")
        }
    }

    @Test func `D26: form and level are given at the start`() throws {
        try withServer("--log-level error --log-format text") { logged in
            #expect(try logged.level() == "error")
            #expect(try logged.get("m/objects/None", "{realm}/objects/{class}") == 404)
            try logged.change("info")
            #expect(try logged.get("none/schema", "{realm}/schema") == 404)
            #expect(try eventually { try logged.log().contains("/v1/realms/none/schema") })
            let text = try logged.log()
            #expect(!text.contains("/objects") && !text.contains(#""status""#), "\(text)")
        }
    }
}
