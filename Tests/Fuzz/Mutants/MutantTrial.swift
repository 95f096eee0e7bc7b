// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import MicroHTTP
internal import RealmEngine
import RealmFormats
internal import RealmHTTP
import RealmPlatform
internal import RealmStorage
internal import RealmTestSupport
import RealmVerify

/// Serves damaged files, one after the other, reads and writes each in many ways, and keeps a realm beside them whose
/// contents must never be seen in an answer about another.
///
/// Used by one thread at a time.
package final class MutantTrial {
    package struct Outcome: Sendable {
        package var isOpened = false
        package var reads = 0
        package var writes = 0
        package var successfulWrites = 0
        /// Answers of 500 and above that are not `file_corrupt`, and foreign bytes: what must not be.
        package var faults: [String] = []
        /// How many answers each status had.
        package var statuses: [Int: Int] = [:]
    }

    package struct Form: Sendable {
        /// The number of the format that the header gets; such files are upgraded when they are opened.
        package var format: UInt8?
        package var isEncrypted = false

        package init(format: UInt8? = nil, isEncrypted: Bool = false) {
            self.format = format
            self.isEncrypted = isEncrypted
        }
    }

    private static let secret = "hunter2-is-nobody-s-business"
    private let server = LocalServer()
    private let folder: String
    private var number = 0
    /// The file that the others are damaged copies of; nil for none.
    private var original: Snapshot?
    private let key: EncryptionKey
    /// The request at hand, for those who watch.
    package var didBegin: (String) -> Void = { _ in }

    /// `folder` must exist, and is best in memory.
    package init(folder: String) throws {
        self.folder = folder
        key = try EncryptionKey(bytes: Fixtures.key)
        try makeNeighbour()
    }

    /// A realm full of texts that no damaged file has.
    private func makeNeighbour() throws {
        var options = Database.OpenOptions(mode: .readWrite)
        options.createsMissingFile = true
        if let error = server.open("neighbour", path: folder + "/neighbour.realm", options) { throw error }
        let schema =
            #"{"fromVersion":0,"toVersion":1,"steps":[{"addClass":{"name":"S","properties":[{"name":"word","type":"string"}]}}]}"#
        let creations = (0..<200).map { "{\"create\":{\"class\":\"S\",\"body\":{\"word\":\"\(MutantTrial.secret) \($0)\"}}}" }
        let batch = "{\"ops\":[\(creations.joined(separator: ","))]}"
        for (path, body) in [("migrations", schema), ("batch", batch)] {
            let answer = server.request("POST", "/v1/realms/neighbour/" + path, body: body)
            guard answer.status == 200 else { throw EmptyNeighbour(answer: answer.text) }
        }
    }

    /// The neighbour has no texts that an answer could give away.
    private struct EmptyNeighbour: Error { let answer: String }

    // MARK: - One file

    /// Serves the file with these bytes and asks for everything.
    package func run(_ bytes: [UInt8], _ form: Form = Form()) throws -> Outcome {
        number += 1
        let name = "m\(number)"
        let path = folder + "/\(name).realm"
        defer { removeFiles(of: name) }
        try Data(try stored(bytes, form)).write(to: URL(fileURLWithPath: path))
        var outcome = Outcome()
        inspect(path, form)
        var options = Database.OpenOptions(key: form.isEncrypted ? key : nil)
        options.upgradesInPlace = form.format != nil
        didBegin("open")
        guard server.open(name, path: path, options) == nil else {
            server.close(name)
            return outcome
        }
        outcome.isOpened = true
        defer { server.close(name) }
        readAndWrite(name, &outcome)
        return outcome
    }

    private func stored(_ bytes: [UInt8], _ form: Form) throws -> [UInt8] {
        var bytes = bytes
        if let format = form.format, bytes.count >= 24 { bytes[20 + Int(bytes[23] & 1)] = format }
        return form.isEncrypted ? try SealedFile.bytes(of: bytes, key) : bytes
    }

    /// What `verify` does, and reading without queries.
    private func inspect(_ path: String, _ form: Form) {
        didBegin("verify")
        guard let file = try? RealmFile(path: path, key: form.isEncrypted ? key : nil), let snapshot = try? Snapshot(file: file)
        else { return }
        _ = snapshot.verify()
        didBegin("read everything")
        var read = DeepRead(snapshot, budget: 500_000)
        try? read.run()
        for identity in [ComparisonOptions.Identity.contents, .objectKey] {
            compare(snapshot, snapshot, identity)
            guard let original else { continue }
            compare(original, snapshot, identity)
            compare(snapshot, original, identity)
        }
    }

    /// What `diff` does.
    private func compare(_ old: Snapshot, _ new: Snapshot, _ identity: ComparisonOptions.Identity) {
        didBegin("compare by \(identity.rawValue)")
        let budget = WorkBudget()
        budget.byteLimit = 64 << 20
        let stream = try? ComparisonStream(
            from: ComparedVersion(old, file: "a"), to: ComparedVersion(new, file: "b"),
            ComparisonOptions(identity: identity), format: .ndjson, budget: budget)
        try? stream?.forEachChunk { _ in }
    }

    /// Sets the file that the next ones are damaged copies of, to compare them with it.
    package func setOriginal(_ bytes: [UInt8]) throws {
        let path = folder + "/original.realm"
        // The one before may still be open.
        try? FileManager.default.removeItem(atPath: path)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        original = (try? RealmFile(path: path, key: nil)).flatMap { try? Snapshot(file: $0) }
    }

    private func removeFiles(of name: String) {
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where file.hasPrefix(name + ".") {
            try? FileManager.default.removeItem(atPath: folder + "/" + file)
        }
    }

    private func readAndWrite(_ name: String, _ outcome: inout Outcome) {
        guard let outline = outline(name, &outcome) else { return }
        let requests = MutantRequests(realm: name, outline: outline)
        let classes = outline.classes.prefix(5)
        for request in requests.general { send(request, &outcome) }
        for one in classes { for request in requests.reads(one) { send(request, &outcome) } }
        for one in classes { for request in requests.writes(one) { send(request, &outcome, isWrite: true) } }
        for one in classes.prefix(2) { for request in requests.reads(one).prefix(4) { send(request, &outcome) } }
        for one in classes { for request in requests.migrations(one) { send(request, &outcome, isWrite: true) } }
        for one in classes.prefix(2) { for request in requests.clearing(one) { send(request, &outcome, isWrite: true) } }
        send(requests.clearingAll, &outcome, isWrite: true)
    }

    private func outline(_ name: String, _ outcome: inout Outcome) -> SchemaOutline? {
        guard let schema = json(.init(method: "GET", path: "/v1/realms/\(name)/schema"), &outcome),
            var outline = SchemaOutline(schema)
        else { return nil }
        for index in outline.classes.indices.prefix(5) {
            let path = "/v1/realms/\(name)/objects/\(outline.classes[index].name.escaped)?limit=4&meta=full"
            guard let page = json(.init(method: "GET", path: path), &outcome) else { continue }
            outline.classes[index].keys = SchemaOutline.keys(page)
        }
        return outline
    }

    private func json(_ request: MutantRequests.Request, _ outcome: inout Outcome) -> ParsedJSON? {
        let answer = send(request, &outcome)
        return answer.status == 200 ? try? ParsedJSON(parsing: answer.bytes) : nil
    }

    @discardableResult
    private func send(_ request: MutantRequests.Request, _ outcome: inout Outcome, isWrite: Bool = false) -> LocalServer.Answer {
        didBegin("\(request.method) \(request.path) \(request.body ?? "")")
        let headers: [(RequestHeader, String)] = request.accept.map { [(.accept, $0)] } ?? []
        let answer = server.request(request.method, request.path, body: request.body, headers: headers)
        if isWrite { outcome.writes += 1 } else { outcome.reads += 1 }
        if isWrite, answer.status < 300, answer.status >= 200 { outcome.successfulWrites += 1 }
        outcome.statuses[answer.status, default: 0] += 1
        judge(answer, request, &outcome)
        return answer
    }

    private func judge(_ answer: LocalServer.Answer, _ request: MutantRequests.Request, _ outcome: inout Outcome) {
        let what = "\(request.method) \(request.path) \(request.body ?? "")"
        if answer.contains(MutantTrial.secret) { outcome.faults.append("another realm's bytes: \(what)") }
        guard answer.status == 0 || answer.status >= 500 else { return }
        let text = answer.text
        let isExpected = ["file_corrupt", "deadline_exceeded", "not_ready", "writes_stopped", "insufficient_storage"].contains {
            text.contains("\"\($0)\"")
        }
        if !isExpected { outcome.faults.append("\(answer.status) \(text.prefix(200)): \(what)") }
    }
}

extension LocalServer.Answer {
    func contains(_ word: String) -> Bool {
        bytes.count >= word.utf8.count && Data(bytes).range(of: Data(word.utf8)) != nil
    }
}
