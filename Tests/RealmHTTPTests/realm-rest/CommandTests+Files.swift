// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// The commands that copy, compact, back up and restore files without a server.
extension CommandTests {
    /// Runs a closure with a folder that has `app.realm` with one dog, of age 3.
    private func withFile(_ body: (_ folder: String, _ file: String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "realm-rest-files-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let data = folder + "/data.ndjson"
        try withWriteServer { server in
            let export = try server.get("app/export").body
            try Data(export).write(to: URL(fileURLWithPath: data))
        }
        #expect(try run(["import", data, folder + "/app.realm"]).status == 0)
        try FileManager.default.removeItem(atPath: data)
        try body(folder, folder + "/app.realm")
    }

    private func snapshot(_ path: String, key: String? = nil) throws -> Snapshot {
        let snapshot = try Snapshot(file: try RealmFile(path: path, key: try key.map { try EncryptionKey(text: $0) }))
        let report = snapshot.verify()
        #expect(report.isClean, "\(path): \(report.errors)")
        return snapshot
    }

    @Test func `A18, A19: copy makes a compact file with another key, no key, or a part of the classes`() throws {
        try withFile { folder, file in
            let key = String(repeating: "ab", count: 64)
            let (keyFile, sealed, plain) = (folder + "/key", folder + "/sealed.realm", folder + "/plain.realm")
            try key.write(toFile: keyFile, atomically: true, encoding: .utf8)
            let before = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(try run(["copy", file, sealed, "--new-key-file", keyFile]).status == 0)
            #expect(try snapshot(sealed, key: key).classTable(named: "Dog") != nil)
            #expect(throws: StorageError.self) { try snapshot(sealed) }
            #expect(try run(["copy", sealed, plain]).status == 2)
            #expect(try run(["copy", sealed, plain, "--key-file", keyFile, "--no-key", "--classes", "Dog"]).status == 0)
            #expect(try RealmEngineReader.age(plain) == 3)
            #expect(try snapshot(plain).classes.compactMap(\.className).sorted() == ["Chip", "Dog"])
            let again = try run(["copy", file, plain])
            #expect(again.status != 0 && again.error.contains("already"), "\(again)")
            #expect(try RealmEngineReader.age(plain) == 3)
            let unknown = try run(["copy", file, folder + "/x.realm", "--classes", "Dgo"])
            #expect(unknown.status != 0 && unknown.error.contains("Dgo"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
            #expect(!FileManager.default.fileExists(atPath: folder + "/x.realm"))
        }
    }

    @Test func `E11: compact replaces a file that nobody has open`() throws {
        try withFile { folder, file in
            let before = try Data(contentsOf: URL(fileURLWithPath: file)).count
            #expect(try run(["compact", file]).status == 0)
            #expect(try RealmEngineReader.age(file) == 3)
            _ = try snapshot(file)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count <= before)
            let server = try ServerProcess([file])
            #expect(try run(["compact", file]).status == 2)
            #expect(server.stop() == 0)
        }
    }

    @Test func `A18: backup stores copies in a folder, and restore takes the newest and keeps what was there`() throws {
        try withFile { folder, file in
            let store = folder + "/backups"
            #expect(try run(["backup", file, store]).status == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: store + "/app")
            #expect(names.count == 1)
            #expect(try RealmEngineReader.age(store + "/app/" + (names.first ?? "")) == 3)
            try FileManager.default.copyItem(
                atPath: store + "/app/" + (names.first ?? ""), toPath: store + "/app/20200101T000000Z-1.realm")
            // It may be of the same second as the first.
            #expect(try run(["backup", file, store, "--keep", "monthly=1"]).status == 0)
            let kept = try FileManager.default.contentsOfDirectory(atPath: store + "/app")
            #expect(kept.count == 1 && kept != names)
            #expect(try run(["backup", file, store, "--keep", "monthly=x"]).status != 0)
            // A file that is there is kept, and a damaged one does not stop it.
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try run(["restore", store, file]).status == 0)
            #expect(try RealmEngineReader.age(file) == 3)
            #expect(try String(contentsOfFile: file + ".replaced-damaged", encoding: .utf8) == "damaged")
            // A damaged source changes nothing.
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(try run(["restore", file + ".replaced-damaged", file]).status == 2)
            #expect(try run(["restore", store, folder + "/other.realm"]).status != 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
            let server = try ServerProcess([file])
            #expect(try run(["restore", store, file]).status == 2)
            #expect(server.stop() == 0)
            #expect(try run(["restore", store + "/app/" + kept[0], folder + "/new.realm"]).status == 0)
            #expect(try RealmEngineReader.age(folder + "/new.realm") == 3)
        }
    }

    @Test func `A18: backups of the same second are different ones`() throws {
        try withFile { folder, file in
            let store = folder + "/backups"
            for _ in 0..<3 {
                let made = try run(["backup", file, store])
                #expect(made.status == 0, "\(made)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: store + "/app").count == 3)
        }
    }

    /// The sound file used to be set aside as a damaged one.
    @Test func `A18: restore replaces no file whose key it was not given`() throws {
        try withFile { folder, file in
            let (key, keyFile, otherFile) = (String(repeating: "ab", count: 64), folder + "/key", folder + "/other")
            try key.write(toFile: keyFile, atomically: true, encoding: .utf8)
            try String(repeating: "cd", count: 64).write(toFile: otherFile, atomically: true, encoding: .utf8)
            let (sealed, other) = (folder + "/sealed.realm", folder + "/other.realm")
            #expect(try run(["copy", file, sealed, "--new-key-file", keyFile]).status == 0)
            #expect(try run(["copy", file, other, "--new-key-file", otherFile]).status == 0)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: sealed))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            for rest in [[file, sealed], [sealed, sealed], [other, sealed, "--key-file", otherFile]] {
                let answer = try run(["restore"] + rest)
                #expect(answer.status == 2 && answer.error.contains("key"), "\(answer)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: sealed)) == bytes)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names)
            let copy = folder + "/copy.realm"
            #expect(try run(["copy", sealed, copy, "--key-file", keyFile]).status == 0)
            #expect(try run(["restore", copy, sealed, "--key-file", keyFile]).status == 0)
            #expect(try snapshot(sealed, key: key).classTable(named: "Dog") != nil)
        }
    }

    @Test(.enabled(if: S3Server.python != nil, "`make setup-test` installs the server"))
    func `A18: backup and restore take a bucket, and say what is missing or wrong`() throws {
        let server = try S3Server()
        try withFile { folder, file in
            let target = "s3://\(S3Server.bucket)/files"
            let credentials = folder + "/credentials"
            try "aws_access_key_id=id\naws_secret_access_key=sesame\n".write(
                toFile: credentials, atomically: true, encoding: .utf8)
            let options = ["--backup-endpoint", "http://127.0.0.1:\(server.port)", "--backup-credentials", credentials]
            #expect(try run(["backup", file, target] + options).error == "")
            try FileManager.default.removeItem(atPath: file)
            #expect(try run(["restore", target, file] + options).error == "")
            #expect(try RealmEngineReader.age(file) == 3)
            sleep(1)
            #expect(try run(["backup", file, target, "--keep", "monthly=1"] + options).status == 0)
            #expect(server.log().components(separatedBy: "DELETE /backups/files/app/").count == 2)
            let missing = try run(["restore", target, folder + "/other.realm"] + options)
            #expect(missing.status != 0 && missing.error.contains("has no backup of 'other'"), "\(missing.error)")
            let bucket = try run(["backup", file, "s3://nowhere"] + options)
            #expect(bucket.status == 2 && bucket.error.contains("404 NoSuchBucket"), "\(bucket.error)")
            #expect(!bucket.error.contains("sesame"))
        }
    }

    @Test func `A18: options of backups that cannot be used are refused by their names`() throws {
        try withFile { folder, file in
            let (target, plan) = ("s3://bucket/files", ["serve", "--data", folder, "--backup-every", "1h"])
            for (arguments, text) in [
                (["backup", file, "s3://no"], "'s3://no' is not s3://BUCKET"),
                (["backup", file, "ftp://a"], "the path of a folder"),
                (["backup", file, folder, "--backup-region", "a"], "--backup-region: only a target s3://"),
                (["backup", file, target, "--backup-endpoint", "127.0.0.1"], "--backup-endpoint: expected an address such as"),
                (["backup", file, target, "--backup-region", "A"], "--backup-region: expected a name such as"),
                (["backup", file, target, "--backup-credentials", folder + "/none"], "--backup-credentials: the credentials in"),
                (["backup", file, target], "--backup-credentials: expected a file"),
                (["restore", target, file], "--backup-credentials: expected a file"),
                (["restore", "ftp://a", file], "the path of a folder"),
                (plan, "must be given together"),
                (["serve", "--data", folder, "--backup-keep", "daily=1"], "need --backup-every"),
                (["serve", "--data", folder, "--backup-endpoint", "http://a"], "need --backup-every"),
                (plan + ["--backup-to", "s3://no"], "--backup-to: 's3://no' is not"),
                (plan + ["--backup-to", target, "--backup-endpoint", "a"], "--backup-endpoint: expected an address"),
                (
                    plan + ["--backup-to", target, "--backup-credentials", folder + "/no"],
                    "--backup-credentials: the credentials"
                ),
                (plan + ["--backup-to", folder, "--backup-key-file", folder + "/none"], "--backup-key-file: the key in"),
                (plan + ["--backup-to", folder, "--backup-keep", "daily=x"], "--backup-keep: expected numbers for"),
                (["serve", "--data", folder, "--backup-every", "0", "--backup-to", folder], "--backup-every: expected a time"),
            ] {
                let result = try run(arguments, environment: ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""])
                #expect(result.status > 0 && result.error.contains(text), "\(arguments): \(result.error)")
            }
        }
    }
}
