// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting

/// A definition whose evaluation does not end before its time is over: forty objects all link to all, so every step of a path multiplies
/// what it reaches.
enum EndlessDefinition {
    /// The classes `N`, to which it belongs, and `B`.
    private static let classes = """
        [{"name":"N","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"value","type":"int"},
          {"name":"list","type":"object","collection":"list","objectType":"N"}]},
         {"name":"B","primaryKey":"_id","properties":[{"name":"_id","type":"int"}]}]
        """

    /// A server with the realm `app`, in which an evaluation has two minutes.
    static func server() throws -> ChangeServer {
        let server = try ChangeServer {
            $0.limits.readSeconds = 120
            $0.limits.observationSeconds = 120
        }
        try server.makeRealm("app", classes: classes)
        try server.batch("app", (0..<40).map { "{\"create\":{\"class\":\"N\",\"body\":{\"_id\":\($0),\"value\":1}}}" })
        let all = (0..<40).map(String.init).joined(separator: ",")
        try server.batch(
            "app", (0..<40).map { "{\"patch\":{\"class\":\"N\",\"key\":\"\($0)\",\"body\":{\"list\":[\(all)]}}}" })
        return server
    }

    /// Sends a registration of some definitions that do not end.
    static func register(_ count: Int, at server: ChangeServer) throws -> RawConnection {
        let members = (0..<count).map {
            #""s\#($0)":{"class":"N","where":"ANY list.list.list.list.list.list.list.value == _id - \#(100 + $0)"}"#
        }
        let body = "{\"subscriptions\":{\(members.joined(separator: ","))}}"
        let client = try RawConnection(port: server.port)
        try client.send(
            "POST /v1/realms/app/subscriptions HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return client
    }
}
