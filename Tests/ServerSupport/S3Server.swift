// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import RealmBackups
internal import RealmTestSupport

/// A server that speaks like S3, in a process of its own on loopback: moto, which `make setup-test` installs. What it
/// stores is in its memory.
package final class S3Server {
    package static let bucket = "backups"

    package let port: Int
    private let process = Process()
    /// Its end tells the server that the tests have ended, however they did.
    private let lifeline = Pipe()
    package let logPath = NSTemporaryDirectory() + "realm-rest-s3-\(UUID().uuidString).log"

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The Python that has moto; nil when it was not installed.
    package static let python: String? = {
        let path = Fixtures.packageRoot.appendingPathComponent(".venv-test/bin/python3").path
        let marker = Fixtures.packageRoot.appendingPathComponent(".venv-test/bin/moto_server").path
        return FileManager.default.isExecutableFile(atPath: path) && FileManager.default.fileExists(atPath: marker) ? path : nil
    }()

    /// What the process runs: the server, which ends when nothing can come from the tests any more.
    private static let program = """
        import os, sys, threading
        def wait():
            sys.stdin.buffer.read()
            os._exit(0)
        threading.Thread(target=wait, daemon=True).start()
        from moto.server import main
        main(sys.argv[1:])
        """

    /// Starts the server with an empty bucket; on the port of one that was stopped, if that is given.
    package init(port: Int? = nil) throws {
        self.port = try port ?? TestSocket.freePort()
        try Data().write(to: URL(fileURLWithPath: logPath))
        process.executableURL = URL(fileURLWithPath: S3Server.python ?? "")
        process.arguments = ["-c", S3Server.program, "-H", "127.0.0.1", "-p", String(self.port)]
        process.standardInput = lifeline
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: logPath))
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let isThere = eventually(seconds: 60) {
            (try? HTTPClient.request(port: self.port, "PUT", "/" + S3Server.bucket, body: []).status) == 200 || !process.isRunning
        }
        guard isThere, process.isRunning else { throw Failure(description: log()) }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: logPath)
    }

    /// As a power cut is to it.
    package func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// A line for each request.
    package func log() -> String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

    /// The options of a store in the bucket.
    package func options(_ credentials: S3Credentials = S3Credentials(id: "id", secret: "secret")) throws -> S3BackupStore.Options
    {
        guard let location = S3Location("s3://\(S3Server.bucket)/some folder/of+mine"),
            let endpoint = S3Endpoint("http://127.0.0.1:\(port)")
        else { throw Failure(description: "the location is refused") }
        return S3BackupStore.Options(location, endpoint, region: "us-east-1", .fixed(credentials))
    }

    /// From now on the server checks signatures; returns the credentials of a user who may do everything.
    package func requireSignatures() throws -> S3Credentials {
        _ = try administer("Action=CreateUser&UserName=b&Version=2010-05-08")
        let key = try administer("Action=CreateAccessKey&UserName=b&Version=2010-05-08")
        let policy =
            #"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}"#
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        _ = try administer("Action=PutUserPolicy&UserName=b&PolicyName=p&PolicyDocument=\(policy)&Version=2010-05-08")
        let answer = try HTTPClient.request(
            port: port, "POST", "/moto-api/reset-auth", headers: [("Content-Type", "text/plain")], body: Array("0".utf8))
        guard answer.status == 200, let id = S3Server.value("AccessKeyId", in: key),
            let secret = S3Server.value("SecretAccessKey", in: key)
        else { throw Failure(description: "\(answer.text) \(key)") }
        return S3Credentials(id: id, secret: secret)
    }

    /// Sends a request about users, which needs no valid signature yet.
    private func administer(_ form: String) throws -> String {
        let signature = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0"
        return try HTTPClient.request(
            port: port, "POST", "/",
            headers: [("Authorization", signature), ("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8)
        ).text
    }

    private static func value(_ name: String, in text: String) -> String? {
        guard let start = text.range(of: "<\(name)>"), let end = text.range(of: "</\(name)>") else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }
}
