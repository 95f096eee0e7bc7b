// The Swift side of the replay: it follows what the driver writes, and compares when it is told to.
//
//     Replay follow PROXY DIRECT auto|stream|poll    commands on standard input: compare VERSION, quit
//     Replay crowd DIRECT COUNT

import Foundation
import RealmRest

/// Not by `print`: flushing would wait for the lock of standard input, which a thread holds while it reads.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

/// Lines of standard input, read by a thread of their own.
func commands() -> AsyncStream<String> {
    AsyncStream { continuation in
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
    }
}

/// The bytes of this process in memory.
func resident() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}

@MainActor
func follow(_ proxy: String, _ direct: String, _ transport: LiveOptions.Transport) async throws {
    var options = LiveOptions()
    options.transport = transport
    options.silence = 12
    options.pollWait = 5
    let server = connect(proxy, timeout: 10, options: options)
    let plain = connect(direct)
    let copies = Copies(realm: server.realm("app"), direct: plain.realm("app"))
    try await copies.begin()
    say("ready")
    for await command in commands() {
        let words = command.split(separator: " ").map(String.init)
        guard words.first == "compare", words.count == 2 else { break }
        let differences = try await copies.compare(at: words[1])
        for difference in differences { FileHandle.standardError.write(Data((difference + "\n").utf8)) }
        say("\(differences.isEmpty ? "equal" : "differs") \(resident()) \(copies.changeSets) \(copies.resets)")
    }
    await server.close()
    await plain.close()
}

@MainActor
func crowd(_ url: String, _ count: Int) async throws {
    let server = connect(url)
    let realm = server.realm("app")
    var began = ContinuousClock.now
    let beginnings = (0..<count).map { number in
        Task { try await realm.objects(Item.self).where("rank >= $0", number).sort("-rank").live() }
    }
    var lives: [LiveList<Stored<Item>>] = []
    for beginning in beginnings { lives.append(try await beginning.value) }
    say("opened \(ContinuousClock.now - began)")
    for await _ in commands() { break }
    began = .now
    let body: JSON = ["id": 1_000_000, "name": "last", "rank": 1_000_000]
    _ = try await realm.request("POST", "/objects/Item", body: body)
    for live in lives { try await live.until { rows in rows.contains { $0.id == 1_000_000 } } }
    say("heard \(ContinuousClock.now - began)")
    await server.close()
}

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "follow" where arguments.count == 5:
    let transports: [String: LiveOptions.Transport] = ["auto": .automatic, "stream": .stream, "poll": .poll]
    try await follow(arguments[2], arguments[3], transports[arguments[4]] ?? .automatic)
case "crowd" where arguments.count == 4:
    try await crowd(arguments[2], Int(arguments[3]) ?? 1000)
default:
    say("usage: Replay follow PROXY DIRECT auto|stream|poll, or Replay crowd DIRECT COUNT")
}
