// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
@testable import RealmBackups
import RealmEngine
import RealmFormats
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Configuration files: what they say, what is wrong with them, and what comes of them.
@Suite struct ConfigurationTests {
    /// Returns the configuration of a file in the folder `/etc/realm-rest`.
    private func configuration(_ text: String) throws -> Configuration {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/etc/realm-rest/realm-rest.yaml")
        return configuration
    }

    @Test func `E1: a file states what the command line can, and more`() throws {
        let options = try configuration(
            """
            listen: {host: 0.0.0.0, port: 8443}
            admin: {port: 9001}
            data: realms
            attachRoots: [/srv/exports, more]
            default: app
            realms:
              app:
                path: app.realm
                mode: ro
                maxActiveVersions: 200
                backlinkNames: {Dog: {owners: Person.dogs}}
                requireIfMatch: [Dog]
                classes: [Dog, Person]
              other: {path: /else/where.realm, compactOnOpen: {minTotalBytes: 1MiB, maxUsedRatio: 0.5}}
            memory: [scratch]
            no-transactions: true
            readOnly: true
            serverTiming: yes
            """.replacingOccurrences(of: "yes", with: "true")
        ).options
        #expect(options.host == "0.0.0.0" && options.port == 8443)
        #expect(options.admin == .port(host: "127.0.0.1", port: 9001))
        #expect(options.dataFolder == "/etc/realm-rest/realms")
        #expect(options.attachRoots == ["/srv/exports", "/etc/realm-rest/more"])
        #expect(options.defaultRealm == "app")
        #expect(options.realms.map(\.path) == ["/etc/realm-rest/app.realm", "/else/where.realm"])
        let (app, other) = (options.realms[0].settings, options.realms[1].settings)
        #expect(app.mode == .readOnly && app.maximumVersions == 200 && app.conditionalClasses == ["Dog"])
        #expect(app.shownClasses?.names == ["Dog", "Person"] && other.shownClasses == nil)
        #expect(other.compaction?.minimumTotalBytes == 1 << 20 && other.compaction?.maximumUsedRatio == 0.5)
        #expect(options.memoryRealms == ["scratch"] && !options.allowsTransactions && options.isReadOnly && options.showsTiming)
    }

    @Test func `E1: times and sizes have units, also on the command line`() throws {
        var limits = try configuration("limits: {read-seconds: 2m, bodyBytes: 4MiB, page: 500, heartbeat: 20s}").options.limits
        #expect(limits.readSeconds == 120 && limits.bodyBytes == 4 << 20 && limits.page == 500 && limits.http.heartbeat == 20)
        try limits.apply("retention-seconds=1h")
        try limits.apply("queue-bytes=64KiB")
        #expect(limits.retentionSeconds == 3600 && limits.queueBytes == 65_536)
        for wrong in ["page=5m", "read-seconds=4MiB", "queue-bytes=1m", "read-seconds=-1s", "queue-bytes=9999999TiB"] {
            #expect(throws: Limits.Rejection.self, "\(wrong)") { try limits.apply(wrong) }
        }
    }

    @Test(arguments: [
        ("listen:\n  prot: 1", 2, "there is no setting 'listen.prot'; did you mean 'port'?"),
        ("realm: {}", 1, "there is no setting 'realm'; did you mean 'realms'?"),
        ("# nothing\nlimits:\n  page: 0", 3, "page takes a number from 1 to 1048576"),
        ("limits: {pages: 5}", 1, "there is no setting 'limits.pages'; did you mean 'page'?"),
        ("realms:\n  app:\n    mode: rw", 2, "'path' is missing"),
        ("realms:\n  app:\n    path: a\n    mode: xx", 4, "'mode' must be one of: rw, ro, copy, follow"),
        (
            "realms:\n  app:\n    path: a\n    mode: copy\n    upgrade: in-place", 5,
            "only a file of the mode rw is upgraded in place"
        ),
        (
            "realms:\n  app:\n    path: a\n    upgrade: in-place\n    mode: ro", 4,
            "only a file of the mode rw is upgraded in place"
        ),
        (
            "realms:\n  app:\n    path: a\n    mode: follow\n    upgrade: in-place", 5,
            "only a file of the mode rw is upgraded in place"
        ),
        ("realms:\n  app:\n    path: a\n    mode: ro\n    compactOnOpen: {}", 5, "a read-only file is not compacted"),
        ("realms:\n  app:\n    path: a\n    mode: follow\n    autoCompact: {}", 5, "a read-only file is not compacted"),
        (
            "realms:\n  app:\n    path: a\n    mode: ro\n    followInterval: 1s", 5,
            "only a file of the mode follow is looked at"
        ),
        ("realms:\n  .app: {path: a}", 2, RealmName.rule),
        ("data: [a]\n", 1, "expected a string, got an array"),
        ("readOnly: 1", 1, "expected true or false, got a number"),
        ("a: [", 2, "this is not YAML: did not find expected node content"),
        ("data: a\nport: 5\ndata: b", 1, "'data' is stated twice here"),
        ("[]", 1, "expected an object, got an array"),
        ("backup: {every: 1h}", 1, "'every' and 'to' must be given"),
        ("backup:\n  every: 500ms\n  to: x", 2, "expected a time from 1s to 366d, such as 30m, 1h or 7d"),
        ("backup:\n  every: 1h\n  to: s3://no", 3, "'s3://no' is not \(S3Location.rule)"),
        ("backup:\n  every: 1h\n  to: ftp://a", 3, "expected the path of a folder or s3://BUCKET/PREFIX"),
        ("backup:\n  every: 1h\n  to: a\n  region: b", 4, "only a target s3://BUCKET/PREFIX takes this"),
        ("backup:\n  every: 1h\n  to: s3://abc\n  endpoint: a:1", 4, "expected \(S3Endpoint.rule)"),
        ("backup:\n  every: 1h\n  to: s3://abc\n  region: Oslo", 4, "expected a name such as us-east-1"),
        ("backup:\n  every: 1h\n  to: s3://abc\n  regoin: a", 4, "there is no 'regoin' here; did you mean 'region'?"),
        ("backup:\n  every: 1h\n  to: a\n  keep: {hourly: x}", 4, "expected a number from 0 to 10000"),
        ("backup:\n  every: 1h\n  to: a\n  keep: {hourlie: 1}", 4, "there is no 'hourlie' here; did you mean 'hourly'?"),
        ("ship: /a\nship-every: 10ms", 2, "expected a time from 50ms to 1d, such as 250ms or 5s"),
        ("prt: 1", 1, "there is no setting 'prt'; did you mean 'port'?"),
        ("max_open: 1", 1, "there is no setting 'max_open'; did you mean 'max-open'?"),
        ("data: 5", 1, "expected a string, got a number"),
        ("host: 5", 1, "expected a string, got a number"),
        ("default: 5", 1, "expected a string, got a number"),
        ("realms:\n  app:\n    path: 5", 3, "expected a string, got a number"),
        ("port: \"8080\"", 1, "expected a number from 0 to 65535"),
        ("memory: a", 1, "expected a list, got a string"),
        ("allowHosts: a", 1, "expected a list, got a string"),
        ("limits:\n  page: 99999999999999999999999", 2, "page takes a number from 1 to 1048576"),
        ("limits:\n  page: 1.5", 2, "page takes a number from 1 to 1048576"),
        (
            "limits:\n  read-seconds: 500ms", 2,
            "read-seconds takes a number from 1 to 3600 in whole seconds, or with a unit such as 5m or 2000ms"
        ),
        ("idle: {closeAfter: 5x}", 1, "expected a time up to 366d, such as 500ms, 300s or 5m; 0 for never"),
        ("read-only: true\nreadOnly: false", 2, "'readOnly' is stated twice, also as 'read-only'"),
        ("port: 1\nlisten:\n  port: 2", 3, "'listen.port' is stated twice, also as 'port'"),
        ("close-after: 5s\nidle: {closeAfter: 7s}", 2, "'idle.closeAfter' is stated twice, also as 'close-after'"),
        ("limits:\n  body-bytes: 1\n  bodyBytes: 2", 3, "'limits.body-bytes' is stated twice, also as 'limits.body-bytes'"),
        ("backup: {every: 1h, to: a}\nbackup-every: 2h", 2, "'backup.every' is stated twice"),
        ("backup-every: 2h\nbackup: {every: 1h, to: a}", 1, "'backup' is stated twice, also as 'backup'"),
        ("memory:\n - a\n - ..", 3, RealmName.rule), ("memory:\n - a\n - a", 3, "two realms would be served as 'a'"),
        ("requireIfMatch: [appDog]", 1, "expected REALM.CLASS, such as app.Dog"),
        ("requireIfMatch:\n - a.B\n - app.", 3, "expected REALM.CLASS, such as app.Dog"),
        (
            "allowHosts: [\"http://x/\"]", 1,
            "expected a host name or an address without scheme, port and path, such as app.example"
        ),
        ("allowOrigins: [\"*\"]", 1, OriginPolicy.defect(in: "*") ?? ""),
        (
            "backup:\n  every: 1h\n  to: s3://abc", 1,
            "expected a file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"
        ),
    ])
    func `E1: an error names file, line and the nearest known name`(_ text: String, _ line: Int, _ reason: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.description == "/etc/realm-rest/realm-rest.yaml:\(line): \(reason)")
    }

    /// The text of the error that `config check` gives for a file in a new folder, which has `a.realm`; nil for none.
    private func complaint(_ text: String, _ prepare: (inout Configuration) throws -> Void = { _ in }) throws -> String? {
        let folder = NSTemporaryDirectory() + "realm-rest-configuration-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: try Fixtures.path("links"), toPath: folder + "/a.realm")
        var configuration = Configuration()
        do throws(ConfigurationError) {
            try configuration.apply(text: text, ofFile: folder + "/c.yaml")
        } catch {
            return "while reading: \(error)"
        }
        try prepare(&configuration)
        do throws(ConfigurationError) {
            try configuration.check()
            return nil
        } catch {
            return error.description.replacingOccurrences(of: folder + "/", with: "")
        }
    }

    @Test(arguments: [
        ("readOnly: true\nupgrade: in-place", "c.yaml:2: 'upgrade' and 'readOnly' cannot be combined"),
        ("upgrade: in-place\nfollow: true", "c.yaml:1: 'upgrade' and 'follow' cannot be combined"),
        ("realms:\n  m: {path: a.realm}\nmemory:\n - m", "c.yaml:4: two realms would be served as 'm'"),
        ("files: [a.realm]\nrealms:\n  a: {path: b.realm}", "c.yaml:3: two realms would be served as 'a'"),
        ("realms:\n  x: {path: a.realm}\n  y: {path: ./a.realm}", "c.yaml:3: the realms 'x' and 'y' have the same file"),
        ("realms:\n  x: {path: b.realm}\n  y: {path: data/../b.realm}", "c.yaml:3: the realms 'x' and 'y' have the same file"),
        ("memory: [m]\ndata: none", "c.yaml:2: none: there is no such folder"),
        ("memory: [m]\nattachRoots:\n - data\n - none", "c.yaml:4: none: there is no such folder"),
        ("memory: [m]\nbacklinkNames:\n  none: {A: {b: C.d}}", "c.yaml:3: there is no realm 'none'"),
        ("memory: [m]\nrequireIfMatch: [none.Dog]", "c.yaml:2: there is no realm 'none'"),
        (
            "memory: [m]\nlisten:\n  host: 0.0.0.0",
            "c.yaml:3: 0.0.0.0 can be reached from elsewhere and no credentials are configured; "
                + "make one with realm-rest keys add, or pass --insecure to let anonymous clients read"
        ),
        (
            "memory: [m]\nadmin: {host: 0.0.0.0, port: 1}",
            "c.yaml:2: 0.0.0.0 can be reached from elsewhere, and there are no credentials yet: "
                + "only loopback or a Unix socket is permitted"
        ),
        (
            "realms:\n  a: {path: a.realm, backlinkNames: {}}\nbacklinkNames:\n  a: {}",
            "c.yaml:4: this is stated twice, also as 'realms.a.backlinkNames'"
        ),
    ])
    func `E1: what a start would refuse is said with its line before anything is opened`(_ text: String, _ reason: String) throws
    {
        #expect(try complaint(text) == reason)
    }

    @Test(arguments: [
        "realms: {x: {path: a.realm, mode: copy}, y: {path: a.realm}, z: {path: a.realm, mode: follow}}",
        "upgrade: in-place\nrealms: {x: {path: a.realm, mode: ro}}",
        "listen: {host: 0.0.0.0}\ninsecure: true\nmemory: [m]", "readOnly: true\nfollow: true\nfiles: [a.realm]",
        "data: data\nrequireIfMatch: [later.Dog]", "allowHosts: [app.example, \"[::1]\", \"fe80::1\"]\nmemory: [m]",
        "idle: {closeAfter: 500ms}", "limits: {read-seconds: 2000ms}", "listen: {port: 0}\nadmin: none",
    ])
    func `E1: what has a meaning is taken`(_ text: String) throws { #expect(try complaint(text) == nil) }

    @Test func `E1: the command line wins, and what it states alone is left to the start`() throws {
        #expect(try complaint("upgrade: in-place") { try $0.apply(option: "upgrade", .string("none")) } == nil)
        let both = try complaint("upgrade: in-place") { try $0.apply(option: "read-only", .bool(true)) }
        #expect(both == "c.yaml:1: 'upgrade' and 'readOnly' cannot be combined")
        let options = try complaint("memory: [m]") {
            try $0.apply(option: "read-only", .bool(true))
            try $0.apply(option: "upgrade", .string("in-place"))
        }
        #expect(options == "'upgrade' and 'readOnly' cannot be combined")
        #expect(try complaint("memory: [m]") { try $0.apply(option: "data", .string("/none")) } == nil)
        var named = try configuration("default: a\nmemory: [a, b]")
        try named.apply(option: "default", .string("b"))
        #expect(named.options.defaultRealm == "b" && named.description.contains("default = \"b\"  # command line"))
    }

    @Test func `E1: times may have milliseconds, and are shown as they are`() throws {
        let configured = try configuration("close-after: 1500ms\nbackup-every: 1500ms\nbackup-to: /b\nbackup-keep: daily=7")
        #expect(configured.options.idleSeconds == 1.5 && configured.options.backupPlan?.every == .milliseconds(1500))
        for line in [
            "idle.closeAfter = 1.5  # file, line 1", "backup.every = \"1500ms\"  # file, line 2",
            "backup.to = \"/b\"  # file, line 3", "backup.keep = \"daily=7\"  # file, line 4",
        ] { #expect(configured.description.contains(line), "\(line): \(configured.description)") }
    }

    @Test func `an alias that stands for very much is refused`() throws {
        let lines =
            ["a: &a [1,1,1,1,1,1,1,1,1,1]"]
            + zip("bcdefgh", "abcdefg").map { name, other in
                "\(name): &\(name) [" + Array(repeating: "*\(other)", count: 10).joined(separator: ",") + "]"
            }
        #expect(throws: ConfigurationError.self) { try configuration(lines.joined(separator: "\n")) }
    }

    @Test func `E18: what is in force is shown with where it comes from, and a file of it says the same`() throws {
        var first = try configuration("listen: {port: 8443}\nrealms: {app: {path: /a.realm, mode: ro}}\n")
        try first.apply(option: "host", .string("localhost"))
        try first.apply(limit: "page=7")
        let shown = first.description
        for line in [
            "listen.port = 8443  # file, line 1", "listen.host = \"localhost\"  # command line",
            "realms.app.path = \"/a.realm\"  # file, line 2", "limits.page = 7  # command line", "readOnly = false  # default",
        ] { #expect(shown.contains(line), "\(line)") }
        #expect(shown.count >= 15 + Limits.entries.count)
    }

    @Test func `E1: backups go to a folder or a bucket, and what is shown says so without secrets`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-configuration-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("aws_access_key_id=id\naws_secret_access_key=sesame\n".utf8).write(
            to: URL(fileURLWithPath: folder + "/credentials"))
        func configured(_ text: String) throws -> Configuration {
            var configuration = Configuration()
            try configuration.apply(text: text, ofFile: folder + "/c.yaml")
            return configuration
        }
        let name = BackupName(realm: try #require(RealmName("app")), time: WallClock(nanoseconds: 0), version: 1)
        let bucket = try configured(
            """
            backup:
              {every: 2h, to: "s3://bucket/some", endpoint: "http://127.0.0.1:9000", region: eu-central-1,
               credentials: credentials, keep: {hourly: 24, daily: 7}}
            """)
        let plan = try #require(bucket.options.backupPlan)
        #expect(plan.store.place(of: name) == "s3://bucket/some/app/19700101T000000Z-1.realm")
        #expect(plan.every == .seconds(7200) && plan.retention == BackupRetention("hourly=24,daily=7"))
        for line in [
            "backup.every = \"7200s\"  # file, line 2", "backup.to = \"s3://bucket/some\"  # file, line 2",
            "backup.keep = \"hourly=24,daily=7\"  # file, line 3",
            "backup.endpoint = \"http://127.0.0.1:9000\"  # file, line 2", "backup.region = \"eu-central-1\"  # file, line 2",
            "backup.credentials = \"\(folder)/credentials\"  # file, line 3",
        ] { #expect(bucket.description.contains(line), "\(line)") }
        #expect(!bucket.description.contains { $0.contains("sesame") })
        let local = try configured("backup: {every: 1h, to: backups}")
        #expect(local.options.backupPlan?.store.place(of: name) == folder + "/backups/app/19700101T000000Z-1.realm")
        // The environment has credentials too.
        var base = ServerOptions()
        base.environment = { ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "sesame"][$0] }
        var environment = Configuration(base)
        try environment.apply(text: "backup: {every: 1h, to: 's3://bucket'}", ofFile: folder + "/c.yaml")
        #expect(environment.options.backupPlan != nil && !environment.description.contains { $0.contains("sesame") })
        try Data("aws_access_key_id=sesame".utf8).write(to: URL(fileURLWithPath: folder + "/credentials"))
        let error = #expect(throws: ConfigurationError.self) {
            try configured("backup:\n  every: 1h\n  to: s3://bucket\n  credentials: credentials")
        }
        #expect(error?.line == 4 && error?.description.contains("aws_secret_access_key") == true)
        #expect(error?.description.contains("sesame") == false)
    }

    @Test func `E1, E18: a key of the command line wins over the file and the environment, and is shown once`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-configuration-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, digits) in [("good", "ab"), ("bad", "cd")] {
            let text = String(repeating: digits, count: 64)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).key"))
        }
        var base = ServerOptions()
        base.environment = { $0.hasPrefix("REALM_REST_KEY_") ? String(repeating: "00", count: 64) : nil }
        var configuration = Configuration(base)
        let text = "realms:\n  enc: {path: e, keyFile: bad.key}\n  plain: {path: p}\nkeys:\n  a: bad.key\n"
        try configuration.apply(text: text, ofFile: folder + "/c.yaml")
        func lines(_ name: String) -> [String] { configuration.description.filter { $0.contains(name) } }
        #expect(lines("enc.keyFile") == ["realms.enc.keyFile = \"bad.key\"  # file, line 2"] && lines("keys.enc").isEmpty)
        #expect(lines("keys.plain") == ["keys.plain = \"***\"  # environment"])
        let key = JSONValue.string(folder + "/good.key")
        try configuration.apply(option: "key", .object(JSONObject([("enc", key), ("b", key)])))
        #expect(lines("enc.keyFile").isEmpty && lines("keys.enc") == ["keys.enc = \"***\"  # command line"])
        #expect(lines("keys.a") == ["keys.a = \"***\"  # file, line 5"])
        #expect(lines("keys.b") == ["keys.b = \"***\"  # command line"])
        let enc = try #require(configuration.options.realms.first)
        #expect(try configuration.options.opening(of: enc).key == configuration.options.keys["b"])
        try configuration.check()
        // A file states the key of a realm once.
        var twice = Configuration()
        try twice.apply(text: text + "  enc: good.key\n", ofFile: folder + "/c.yaml")
        let error = #expect(throws: ConfigurationError.self) { try twice.check() }
        #expect(error?.line == 6 && error?.text == "this is stated twice, also as 'realms.enc.keyFile'")
    }

    @Test func `E1: keys are read from files, and never shown`() throws {
        let folder = NSTemporaryDirectory() + "realm-rest-configuration-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let digits = String(repeating: "ab", count: 64)
        try Data(digits.utf8).write(to: URL(fileURLWithPath: folder + "/app.key"))
        var configuration = Configuration()
        let text = "realms: {app: {path: app.realm, keyFile: app.key}}\nkeys: {other: app.key}"
        try configuration.apply(text: text, ofFile: folder + "/c.yaml")
        #expect(configuration.options.realms.first?.settings.key != nil && configuration.options.keys["other"] != nil)
        let shown = configuration.description
        #expect(shown.contains("keys.other = \"***\"  # file, line 2"))
        #expect(!shown.contains { $0.contains("abab") })
        let error = #expect(throws: ConfigurationError.self) {
            try configuration.apply(text: "realms:\n  b:\n    path: b\n    keyFile: none.key", ofFile: folder + "/c.yaml")
        }
        #expect(error?.line == 4)
    }
}
