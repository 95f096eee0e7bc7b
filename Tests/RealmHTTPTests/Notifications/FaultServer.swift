// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport

/// The real server in a process of its own, whose memory and open files can be looked at, with one realm in memory.
final class FaultServer {
    let process: ServerProcess

    static let classes = """
        [{"name":"Item","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"n","type":"int"},{"name":"text","type":"string"}]}]
        """

    init(limits: [String] = [], arguments: [String] = []) throws {
        process = try ServerProcess(["--memory", "spare"] + arguments + limits.flatMap { ["--limit", $0] })
        try must("POST", "/v1/realms", "{\"name\":\"app\",\"inMemory\":\"app\",\"schema\":{\"classes\":\(FaultServer.classes)}}")
    }

    var port: Int { process.port }

    @discardableResult
    func must(_ method: String, _ target: String, _ body: String? = nil) throws -> ParsedJSON {
        try HTTPClient.request(
            port: port, method, target, headers: body == nil ? [] : [("Content-Type", "application/json")],
            body: body.map { Array($0.utf8) }
        ).document("\(method) \(target)")
    }

    /// Writes in one commit, and tells its version.
    @discardableResult
    func write(_ ops: [String]) throws -> String {
        try must("POST", "/v1/realms/app/batch", "{\"ops\":[\(ops.joined(separator: ","))]}")["version"]?.text ?? ""
    }

    /// Makes objects, or writes those that are there.
    static func upsert(_ id: Int, _ n: Int, _ text: String = "") -> String {
        "{\"create\":{\"class\":\"Item\",\"upsert\":\"all\",\"body\":{\"_id\":\(id),\"n\":\(n),\"text\":\"\(text)\"}}}"
    }

    static func changes(_ query: String) -> String { "/v1/realms/app/changes?\(query)" }

    /// The numbers of `/metrics`.
    func metrics() throws -> ServerMetrics { try ServerMetrics(port: port) }

    /// One number of `/metrics`.
    func metric(_ name: String) throws -> Double? { try metrics()[name] }

    // MARK: - The process

    private var folder: String { "/proc/\(process.process.processIdentifier)" }

    /// Bytes of memory that are in use.
    var memory: Int {
        let text = (try? String(contentsOfFile: folder + "/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }

    var openFiles: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd").count) ?? 0 }
    var threads: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder + "/task").count) ?? 0 }

    /// Whether the process still runs.
    var isAlive: Bool { process.process.isRunning }
}
