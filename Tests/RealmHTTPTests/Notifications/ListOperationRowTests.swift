// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Row D4 of the checklist: what is told of each operation on a list, however it is written.
@Suite struct ListOperationRowTests {
    private struct Operation: Sendable {
        let name: String
        /// Steps of a JSON Patch, and operations of a batch, where there are such.
        let patch: String?
        let batch: String?
        /// The change set without its position, of the list a, b, c.
        let expected: String
    }

    private static func set(
        _ count: Int, _ deletions: String = "", _ insertions: String = "", _ modifications: String = "", moves: String = "",
        more: String = ""
    ) -> String {
        "{\"count\":\(count),\"deletions\":[\(deletions)],\"insertions\":[\(insertions)],\"modifications\":[\(modifications)],\"moves\":[\(moves)]\(more)}"
    }

    private static let all = #"{"index":0},{"index":1},{"index":2}"#

    private static let operations = [
        Operation(
            name: "add", patch: #"{"op":"add","path":"/tags/-","value":"z"}"#, batch: #"{"add":"z"}"#,
            expected: set(4, "", #"{"index":3,"value":"z"}"#)),
        Operation(
            name: "insert", patch: #"{"op":"add","path":"/tags/1","value":"z"}"#, batch: #"{"insert":[1,"z"]}"#,
            expected: set(4, "", #"{"index":1,"value":"z"}"#)),
        Operation(
            name: "remove", patch: #"{"op":"remove","path":"/tags/1"}"#, batch: #"{"remove":1}"#,
            expected: set(2, #"{"index":1}"#)),
        Operation(
            name: "replace", patch: #"{"op":"replace","path":"/tags/2","value":"z"}"#, batch: #"{"set":[2,"z"]}"#,
            expected: set(3, "", "", #"{"oldIndex":2,"index":2,"value":"z"}"#)),
        Operation(
            name: "move", patch: #"{"op":"move","from":"/tags/2","path":"/tags/0"}"#, batch: #"{"move":[2,0]}"#,
            expected: set(3, #"{"index":2}"#, #"{"index":0,"value":"c"}"#, moves: #"{"from":2,"to":0}"#)),
        Operation(
            name: "exchange", patch: nil, batch: #"{"swap":[0,2]}"#,
            expected: set(
                3, #"{"index":0},{"index":2}"#, #"{"index":0,"value":"c"},{"index":2,"value":"a"}"#,
                moves: #"{"from":0,"to":2},{"from":2,"to":0}"#)),
        Operation(
            name: "clear", patch: #"{"op":"replace","path":"/tags","value":[]}"#, batch: #"{"clear":true}"#,
            expected: set(0, all, more: #","cleared":true"#)),
        Operation(
            name: "assign", patch: #"{"op":"replace","path":"/tags","value":["a"]}"#, batch: #"{"clear":true},{"add":"a"}"#,
            expected: set(1, all, #"{"index":0,"value":"a"}"#)),
    ]

    @Test(arguments: Transport.allCases)
    func `D4: each operation on a list has its change set, as a JSON Patch and in a batch`(_ transport: Transport) throws {
        for operation in ListOperationRowTests.operations {
            for isPatch in [true, false] {
                guard let text = isPatch ? operation.patch : operation.batch else { continue }
                let fixture = try ChangeFixture()
                try fixture.write(fixture.patch(#"{"tags":["a","b","c"]}"#))
                let tags = try Follower(fixture.server.port, #"{"class":"Person","key":"ann","property":"tags"}"#, transport)
                let version = try fixture.write(isPatch ? fixture.patch("[\(text)]") : fixture.list("tags", text))
                #expect(try tags.sets(upTo: version) == [operation.expected], "\(operation.name), \(isPatch ? "patch" : "batch")")
            }
        }
    }
}
