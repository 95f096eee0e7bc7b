// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Sends an import whose lines are made while they are sent, so that the memory of the process is that of the server.
struct ImportClient {
    /// The TCP port of the server.
    let port: Int
    let realm: String

    /// Imports objects of the class `Item`.
    ///
    /// - Parameters:
    ///   - count: The number of objects.
    ///   - query: The query of the request, without the question mark.
    /// - Returns: Whether the server has responded with success.
    func send(_ count: Int, query: String) throws -> Bool {
        var connection = try Connection(port)
        defer { connection.close() }
        connection.send(
            Array(
                ("POST /v1/realms/\(realm)/import?\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                    + "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n").utf8))
        var rows = ItemRows(7)
        var chunk = ""
        for id in 0..<count {
            chunk += rows.json(id: id) + "\n"
            guard chunk.utf8.count > 60_000 || id == count - 1 else { continue }
            connection.send(Array((String(chunk.utf8.count, radix: 16) + "\r\n" + chunk + "\r\n").utf8))
            chunk = ""
        }
        connection.send(Array("0\r\n\r\n".utf8))
        return connection.receive()
    }
}
