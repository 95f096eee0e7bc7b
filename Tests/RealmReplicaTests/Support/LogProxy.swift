// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization

/// Stands between clients and a server, and loses what it is told to lose.
final class LogProxy: Sendable {
    /// What happens to connections.
    enum Rule: Sendable {
        case pass
        /// After so many bytes of answers the connection ends.
        case cutAnswers(after: Int)
        /// After so many bytes of requests the connection ends.
        case cutRequests(after: Int)
        /// Nothing passes any more, and nobody says so.
        case hold
        /// Connections end at once.
        case refuse
    }

    private struct State {
        var rule = Rule.pass
        var count = 0
        /// Whether new connections are refused after the next cut.
        var refusesAfterCut = false
        var cuts = 0
        var target: String
        var sockets: Set<Int32> = []
    }

    let folder: String
    private let state: Mutex<State>
    private let listener: Int32

    /// The number of connections that were cut.
    var cuts: Int { state.withLock { $0.cuts } }

    init(to target: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rp-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        state = Mutex(State(target: target))
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard unsafe LogProxy.call(listener, folder, bind), listen(listener, 64) == 0 else { throw CocoaError(.fileWriteUnknown) }
        try Threads.start("proxy") { [weak self, listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                self.serve(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Sets what happens from now on; bytes are counted from now on.
    func set(_ rule: Rule) {
        let ended = state.withLock { state -> Set<Int32> in
            state.rule = rule
            state.refusesAfterCut = false
            state.count = 0
            if case .refuse = rule { return state.sockets }
            return []
        }
        for socket in ended { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Ends the connection after so many bytes, and refuses new ones from then on.
    func cutAndRefuse(isAnswer: Bool, after count: Int) {
        set(isAnswer ? .cutAnswers(after: count) : .cutRequests(after: count))
        state.withLock { $0.refusesAfterCut = true }
    }

    /// Leads new connections to another server, and ends the present ones.
    func lead(to target: String) {
        let ended = state.withLock { state in
            state.target = target
            return state.sockets
        }
        for socket in ended { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private static func call(
        _ socket: Int32, _ folder: String, _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(folder)/.s.PGSQL.\(PostgresServer.port)".utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe function(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func serve(_ client: Int32) {
        let (target, isRefused) = state.withLock { state -> (String, Bool) in
            if case .refuse = state.rule { return (state.target, true) }
            return (state.target, false)
        }
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard !isRefused, unsafe LogProxy.call(server, target, connect) else {
            close(client)
            close(server)
            return
        }
        state.withLock { $0.sockets.formUnion([client, server]) }
        let pair = Ends(client: client, server: server, open: 2)
        try? Threads.start("to-server") { [weak self] in
            LogProxy.pump(from: client, to: server, isAnswer: false, self: { self })
            self?.end(pair)
        }
        try? Threads.start("to-client") { [weak self] in
            LogProxy.pump(from: server, to: client, isAnswer: true, self: { self })
            self?.end(pair)
        }
    }

    private final class Ends: Sendable {
        let client: Int32
        let server: Int32
        let open: Mutex<Int>
        init(client: Int32, server: Int32, open: Int) {
            self.client = client
            self.server = server
            self.open = Mutex(open)
        }
    }

    /// Ends both directions; the second closes the sockets.
    private func end(_ pair: Ends) {
        shutdown(pair.client, Int32(SHUT_RDWR))
        shutdown(pair.server, Int32(SHUT_RDWR))
        let isLast = pair.open.withLock { open in
            open -= 1
            return open == 0
        }
        guard isLast else { return }
        state.withLock { $0.sockets.subtract([pair.client, pair.server]) }
        close(pair.client)
        close(pair.server)
    }

    private static func pump(from source: Int32, to target: Int32, isAnswer: Bool, self proxy: () -> LogProxy?) {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(source, &room, room.count)
            guard count > 0, let proxy = proxy() else { return }
            guard let allowed = proxy.allowed(count, isAnswer) else { continue }
            var sent = 0
            while sent < allowed {
                let written = unsafe send(target, Array(room[sent..<allowed]), allowed - sent, Int32(MSG_NOSIGNAL))
                guard written > 0 else { return }
                sent += written
            }
            guard allowed == count else { return }
        }
    }

    /// How many of some bytes may pass; fewer than there are ends the connection. Nil for bytes that are swallowed.
    private func allowed(_ count: Int, _ isAnswer: Bool) -> Int? {
        state.withLock { state in
            switch (state.rule, isAnswer) {
            case (.cutAnswers(let limit), true), (.cutRequests(let limit), false):
                state.count += count
                guard state.count > limit else { return count }
                state.rule = state.refusesAfterCut ? .refuse : .pass
                state.cuts += 1
                return max(0, count - (state.count - limit))
            case (.hold, _): return nil
            default: return count
            }
        }
    }
}
