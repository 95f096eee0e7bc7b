// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Several listeners, Unix sockets, and what the service manager hands over and is told.
@Suite struct ListenerTests {
    private let folder = NSTemporaryDirectory() + "realm-rest-listen-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func server(_ listeners: [String], _ change: (inout ServerOptions) -> Void = { _ in }) throws -> TestServer {
        try TestServer([]) { options in
            options.isReadOnly = false
            options.memoryRealms = ["notes"]
            options.listeners = listeners.compactMap { ListenAddress($0) }
            change(&options)
        }
    }

    private func mode(_ path: String) -> UInt32? {
        NodeStatus(at: path)?.permissions
    }

    // MARK: - Addresses

    @Test(arguments: [
        "127.0.0.1:80", "[::1]:8443,tls", "localhost:0,plain", "unix:/a/b", "unix:/a,tls,mode=660,owner=me,group=us",
        "unix:a,mode=666",
    ])
    func `addresses are read as they are shown`(_ text: String) {
        #expect(ListenAddress(text)?.description == text)
    }

    @Test(arguments: [
        "", "none", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "unix:", "127.0.0.1:80,",
        "127.0.0.1:80,mode=660",
        "unix:/a,mode=", "unix:/a,mode=8", "unix:/a,mode=1777", "unix:/a,mode=0x1", "unix:/a,owner=", "unix:/a,ssl",
        "unix:/a,tls,",
        "https://a:1", "127.0.0.1:80,TLS",
    ])
    func `nothing else is an address`(_ text: String) { #expect(ListenAddress(text) == nil) }

    @Test func `all listeners serve the same, share their limits and end together`() throws {
        let path = folder + "/main.sock"
        do {
            let server = try server(["127.0.0.1:0", "127.0.0.1:0", "unix:\(path)"]) { options in
                options.limits.http.connections = 4
                options.limits.http.connectionsPerAddress = 100
            }
            let ports = [server.port, server.server.others[0].socket.port]
            #expect(ports[0] != ports[1])
            for port in ports { #expect(try HTTPClient.request(port: port, "GET", "/v1/realms/notes").status == 200) }
            #expect(try HTTPClient(unixPath: path).request("GET", "/v1/realms/notes").status == 200)
            // A client has its answer before the server knows that it was sent, and is in the way until then.
            #expect(eventually { server.server.daemon.connectionCount == 0 })
            // Streams are in use, so they are not displaced, whichever listener they came by.
            var streams: [EventClient] = []
            for port in [ports[0], ports[1], ports[0], ports[1]] {
                streams.append(try EventClient(port: port, "/v1/realms/notes/changes"))
            }
            #expect(streams.allSatisfy { $0.status == 200 })
            let more = try HTTPClient.request(port: ports[1], "GET", "/v1/realms")
            #expect(more.status == 503 && more.code == "overloaded", "\(more.status)")
            withExtendedLifetime((server, streams)) {}
        }
        #expect(mode(path) == nil)
    }

    @Test func `a commit has its event on the streams of all listeners`() throws {
        let server = try server(["127.0.0.1:0", "127.0.0.1:0"])
        let ports = [server.port, server.server.others[0].socket.port]
        let schema = #"{"classes":[{"name":"Note","properties":[{"name":"text","type":"string"}]}]}"#
        let made = try HTTPClient.request(
            port: ports[0], "POST", "/v1/realms", headers: [("Content-Type", "application/json")],
            body: Array("{\"name\":\"told\",\"inMemory\":\"told\",\"schema\":\(schema)}".utf8))
        #expect(made.status == 201, "\(made.text)")
        let streams = try [0, 1, 0, 1, 1].map { place in
            try EventClient(port: ports[place], "/v1/realms/told/changes?class=Note&initial=false")
        }
        for stream in streams { _ = try stream.next("ready") }
        for round in 0..<3 {
            let made = try HTTPClient.request(
                port: ports[round % 2], "POST", "/v1/realms/told/objects/Note", headers: [("Content-Type", "application/json")],
                body: Array(#"{"text":"x"}"#.utf8))
            #expect(made.status == 201)
            for stream in streams { #expect(try stream.next("changes").id != nil) }
        }
        withExtendedLifetime(server) {}
    }

    @Test func `an address that is taken, or that others reach, leaves no listener`() throws {
        let path = folder + "/main.sock"
        let taken = try ListeningSocket(host: "127.0.0.1", port: 0)
        defer { close(taken.descriptor) }
        for wrong in ["127.0.0.1:\(taken.port)", "0.0.0.0:0", "[::]:0", "no-such-host.invalid:0", "unix:\(folder)/none/x"] {
            #expect(throws: RealmServer.Failure.self, "\(wrong)") { _ = try server(["unix:\(path)", wrong]) }
            #expect(mode(path) == nil, "\(wrong)")
        }
    }

    @Test func `where strangers reach a port, only Unix sockets make an administrator`() throws {
        let path = folder + "/main.sock"
        let server = try server(["0.0.0.0:0", "127.0.0.1:0", "unix:\(path)"]) { options in
            options.isInsecure = true
            options.admin = .none
        }
        for port in [server.port, server.server.others[0].socket.port] {
            #expect(try HTTPClient.request(port: port, "GET", "/v1/realms").status == 200)
            for hidden in ["/metrics", "/admin/config"] {
                #expect(try HTTPClient.request(port: port, "GET", hidden).status == 404)
            }
        }
        #expect(try HTTPClient(unixPath: path).request("GET", "/admin/config").status == 200)
    }

    // MARK: - Unix sockets

    @Test func `clients of a Unix socket count as this machine, but not what a proxy passes on`() throws {
        let path = folder + "/main.sock"
        let server = try server(["unix:\(path)"])
        #expect(server.server.url == "unix:\(path)" && server.server.adminDaemon == nil)
        #expect(try HTTPClient(unixPath: path).request("GET", "/admin/config").status == 200)
        #expect(try HTTPClient(unixPath: path).request("DELETE", "/v1/realms/notes").status == 204)
        for name in ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-IP"] {
            #expect(try HTTPClient(unixPath: path).request("GET", "/v1/realms", headers: [(name, "127.0.0.1")]).status == 401)
        }
        let other = try self.server(["unix:\(folder)/other.sock"]) { $0.administersOnMain = false }
        #expect(try HTTPClient(unixPath: folder + "/other.sock").request("GET", "/admin/config").status == 404)
        withExtendedLifetime(other) {}
    }

    @Test(arguments: [(nil, 0o600), ("mode=660", 0o660), ("mode=666", 0o666), ("mode=0640", 0o640)])
    func `a socket has the mode that is wanted`(_ option: String?, _ expected: Int) throws {
        let path = folder + "/main.sock"
        let server = try server(["unix:\(path)" + (option.map { "," + $0 } ?? "")])
        #expect(mode(path) == UInt32(expected))
        withExtendedLifetime(server) {}
    }

    @Test(.enabled(if: getuid() == 0)) func `a socket has the owner that is wanted, and is replaced when it is abandoned`() throws
    {
        let path = folder + "/main.sock"
        for _ in 0..<2 {
            let server = try server(["unix:\(path),owner=nobody,group=1,mode=660"])
            let status = try #require(NodeStatus(at: path))
            let owner = unsafe getpwnam("nobody").pointee.pw_uid
            #expect(status.owner == owner && status.group == 1)
            // The next server finds a file that nobody listens on.
            server.server.stop()
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let isBound = ListenerTests.bindSocket(descriptor, to: path)
            let isChanged = unsafe chown(path, status.owner, 1) == 0 && chmod(path, 0o660) == 0
            #expect(isBound && isChanged)
            close(descriptor)
        }
        #expect(throws: RealmServer.Failure.self) { _ = try server(["unix:\(folder)/x,owner=no-such-user"]) }
        #expect(mode(folder + "/x") == nil)
    }

    @Test func `what is no socket of an earlier server, or of a running one, is left alone`() throws {
        let path = folder + "/main.sock"
        let running = try server(["unix:\(path),mode=660"])
        #expect(throws: RealmServer.Failure.self) { _ = try server(["unix:\(path)"]) }
        #expect(try HTTPClient(unixPath: path).request("GET", "/healthz").status == 200)
        withExtendedLifetime(running) {}
        for kind in ["file", "folder", "link"] {
            let other = folder + "/" + kind
            switch kind {
            case "file": try "x".write(toFile: other, atomically: true, encoding: .utf8)
            case "folder": try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            default: try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: path)
            }
            #expect(throws: RealmServer.Failure.self, "\(kind)") { _ = try server(["unix:\(other)"]) }
            #expect(mode(other) != nil)
        }
    }

    @Test func `a connection to a Unix socket that sends nothing is ended`() throws {
        let path = folder + "/main.sock"
        let server = try server(["unix:\(path)"]) { $0.limits.http.headSeconds = 1 }
        let client = try HTTPClient(unixPath: path)
        let begin = Instant.now()
        #expect(try client.isClosed())
        #expect(Instant.now().seconds(since: begin) < 10)
        withExtendedLifetime(server) {}
    }

    // MARK: - The service manager

    @Test func `sockets are taken only if they were handed to this process`() {
        func taken(_ variables: [String: String]) -> [HandedSocket] { HandedSocket.all(for: 7) { variables[$0] } }
        #expect(taken(["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "main:admin"]).map(\.descriptor) == [3, 4])
        #expect(
            taken(["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "x:admin"]).map(\.isForAdministrators) == [
                false, true,
            ])
        #expect(taken(["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "admin"]).map(\.name) == ["admin", ""])
        #expect(taken(["LISTEN_PID": "7", "LISTEN_FDS": "1"]).count == 1)
        for wrong in [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "8", "LISTEN_FDS": "1"], ["LISTEN_PID": "7"],
            ["LISTEN_PID": "7", "LISTEN_FDS": "0"],
            ["LISTEN_PID": "7", "LISTEN_FDS": "-1"], ["LISTEN_PID": "7", "LISTEN_FDS": "99999"],
            ["LISTEN_PID": "x", "LISTEN_FDS": "1"],
        ] { #expect(taken(wrong).isEmpty, "\(wrong)") }
    }

    @Test func `a descriptor that does not listen is refused`() throws {
        let pipe = Pipe()
        for descriptor in [pipe.fileHandleForReading.fileDescriptor, 9999] {
            #expect(throws: ListeningSocket.Failure.self) { _ = try ListeningSocket(handedOver: descriptor) }
        }
        withExtendedLifetime(pipe) {}
    }

    /// Runs the server as the service manager would: with sockets as the descriptors from 3 on.
    private static let manager = """
        import os, socket, sys
        names, program, path = sys.argv[1], sys.argv[2], sys.argv[3]
        sockets = []
        for name in names.split(":"):
            if name == "admin":
                one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                one.bind(path)
            else:
                one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                one.bind(("127.0.0.1", 0))
            one.listen(8)
            sockets.append(os.dup(one.fileno()))
        for number, one in enumerate(sockets):
            os.dup2(one, 60 + number)
        for number in range(len(sockets)):
            os.dup2(60 + number, 3 + number)
            os.set_inheritable(3 + number, True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(sockets)), LISTEN_FDNAMES=names)
        os.execv(program, [program, "serve"] + sys.argv[4:])
        """

    @Test(.enabled(if: ServerProcess.executable != nil && Tool.areThere))
    func `sockets of the service manager are served, and their files are left to it`() throws {
        let program = try #require(ServerProcess.executable)
        let script = folder + "/manager.py"
        try ListenerTests.manager.write(toFile: script, atomically: true, encoding: .utf8)
        let path = folder + "/admin.sock"
        let process = try ServerProcess(
            command:
                "exec python3 '\(script)' main:admin '\(program)' '\(path)' --memory a --log-format none --listen 127.0.0.1:1")
        #expect(try HTTPClient.request(port: process.port, "GET", "/v1/realms/a").status == 200)
        #expect(try HTTPClient(unixPath: path).request("GET", "/admin/config").status == 200)
        #expect(process.stop() == 0)
        #expect(mode(path) != nil)
    }

    @Test(.enabled(if: ServerProcess.executable != nil && Tool.areThere))
    func `the service manager is told of the start, of reloads, of life and of the end`() throws {
        let program = try #require(ServerProcess.executable)
        let file = folder + "/realm-rest.yaml"
        try "listen: {port: 0}\nmemory: [a]\nlog: {format: none}\n".write(toFile: file, atomically: true, encoding: .utf8)
        let path = folder + "/notify"
        let receiver = try #require(DatagramReceiver(path))
        let process = try ServerProcess(
            command: "NOTIFY_SOCKET='\(path)' WATCHDOG_USEC=3000000 exec '\(program)' serve --config '\(file)'")
        #expect(receiver.next(but: "WATCHDOG=1") == "READY=1")
        #expect(receiver.next(but: "READY=1") == "WATCHDOG=1")
        process.send(SIGHUP)
        let reloading = try #require(receiver.next(but: "WATCHDOG=1")?.split(separator: "\n").map(String.init))
        #expect(reloading.first == "RELOADING=1")
        let now = Int(RealmPlatform.Instant.now().nanoseconds / 1000)
        let stated = try #require(reloading.last.flatMap { $0.hasPrefix("MONOTONIC_USEC=") ? Int($0.dropFirst(15)) : nil })
        #expect((0...30_000_000).contains(now - stated))
        #expect(receiver.next(but: "WATCHDOG=1") == "READY=1")
        process.send(SIGTERM)
        #expect(receiver.next(but: "WATCHDOG=1") == "STOPPING=1")
        process.process.waitUntilExit()
        #expect(process.process.terminationStatus == 0)
    }

    /// Gives a Unix socket a path; returns whether the system takes it.
    private static func bindSocket(_ descriptor: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Receives datagrams at a path.
    private final class DatagramReceiver {
        private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)

        init?(_ path: String) {
            let isBound = ListenerTests.bindSocket(descriptor, to: path)
            if !isBound { return nil }
        }

        deinit { close(descriptor) }

        /// The next datagram that is not of a text; nil when none comes.
        func next(but other: String) -> String? {
            var buffer = [UInt8](repeating: 0, count: 1000)
            while true {
                var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&wait, 1, 30_000) == 1 else { return nil }
                let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                if text != other { return text }
            }
        }
    }
}
