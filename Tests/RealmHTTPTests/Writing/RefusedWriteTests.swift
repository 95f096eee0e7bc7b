// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Every problem that a write can raise, each by the shortest request that does. None of them leaves a trace in the file.
/// Features A30, A46–A52, C1, C2, C5, C9, C16, C17, D11, D13.
@Suite struct RefusedWriteTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        let method: String
        /// Behind `/v1/realms/app/`.
        let path: String
        let body: String?
        let status: Int
        let code: String
        /// Extension members that have to be there.
        let members: [String: String]
        let headers: [(String, String)]
        var testDescription: String { "\(method) \(path) \(body?.prefix(90) ?? "") -> \(code)" }

        init(
            _ method: String, _ path: String, _ body: String?, _ status: Int, _ code: String, _ members: [String: String] = [:],
            headers: [(String, String)] = []
        ) {
            self.method = method
            self.path = path
            self.body = body
            self.status = status
            self.code = code
            self.members = members
            self.headers = headers
        }
    }

    /// Shared by all cases: nothing is ever written.
    static let server: (server: WriteServer, bytes: Data) = {
        do {
            let server = try WriteServer { options in
                options.limits.batchOperations = 3
                options.limits.bodyBytes = 4096
                options.conditionalClasses = ["app.Note"]
            }
            // The batch that fills is longer than what the cases may send.
            let filler = try WriteServer.filled(server)
            return (server, filler)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    private static let type = "Content-Type"

    static let bodies: [Bad] = [
        Bad("POST", "objects/Dog", "", 400, "invalid_json"),
        Bad("POST", "objects/Dog", "{", 400, "invalid_json"),
        Bad("POST", "objects/Dog", #"{"_id":1,"_id":2}"#, 400, "invalid_json"),
        Bad("POST", "objects/Dog", #"{"_id":9} x"#, 400, "invalid_json"),
        Bad("POST", "objects/Dog", #"{"name":"\ud800"}"#, 400, "invalid_json"),
        Bad(
            "POST", "objects/Dog", #"{"any":"# + String(repeating: "[", count: 80) + String(repeating: "]", count: 80) + "}", 400,
            "invalid_json"),
        Bad("POST", "objects/Dog", "x", 415, "unsupported_media_type", headers: [(type, "text/plain")]),
        Bad("PATCH", "objects/Dog/1", "{}", 415, "unsupported_media_type", headers: [(type, "application/x-ndjson")]),
        Bad("POST", "batch", "{}", 415, "unsupported_media_type", headers: [(type, "application/octet-stream")]),
        Bad("DELETE", "objects/Dog/1", "{}", 415, "unsupported_media_type"),
        Bad("PUT", "objects/Dog/1/age", "3", 415, "unsupported_media_type", headers: [(type, "application/octet-stream")]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1}"#, 406, "not_acceptable", headers: [("Accept", "text/csv")]),
        Bad("POST", "objects/Dog", String(repeating: " ", count: 5000), 413, "body_too_large", ["limit": "4096"]),
        Bad("POST", "batch", #"{"ops":[{},{},{},{}]}"#, 413, "body_too_large", ["limit": "3"]),
        Bad("POST", "objects/Dog?upsrt=all", "{}", 400, "unknown_parameter", ["parameter": "upsrt"]),
        Bad("POST", "objects/Dog?upsert=some", "{}", 400, "invalid_parameter", ["parameter": "upsert"]),
        Bad("POST", "objects/Dog?nested=all", "{}", 400, "invalid_parameter", ["parameter": "nested"]),
        Bad("POST", "objects/Dog?dryRun=1", "{}", 400, "invalid_parameter", ["parameter": "dryRun"]),
        Bad("DELETE", "objects/Dog", nil, 400, "missing_where", ["parameter": "where"]),
        Bad("PATCH", "objects/Dog", "{}", 400, "missing_where", ["parameter": "where"]),
        Bad("DELETE", "objects", nil, 400, "missing_where", ["parameter": "confirm"]),
        Bad("DELETE", "objects?confirm=yes", nil, 400, "invalid_parameter", ["parameter": "confirm"]),
        Bad("DELETE", "objects/Dog?where=age%20%3E", nil, 400, "invalid_query", ["parameter": "where"]),
        Bad("DELETE", "objects/Dog?where=agee%20%3E%201", nil, 400, "unknown_key_path", ["parameter": "where"]),
        Bad("DELETE", "objects/Dog?where=age%20%3E%201&args=3", nil, 400, "invalid_parameter", ["parameter": "args"]),
        Bad("DELETE", "objects/Dog?where=age%20%3E%200&maxAffected=1", nil, 409, "too_many_affected", ["limit": "1"]),
        Bad("PATCH", "objects/Dog?where=age%20%3E%200&maxAffected=0", #"{"age":1}"#, 409, "too_many_affected", ["limit": "0"]),
        Bad("PATCH", "objects/Dog?where=age%20%3E%200", #"{"age":"x"}"#, 422, "type_mismatch", ["pointer": "/age"]),
        Bad(
            "PATCH", "objects/Dog?where=age%20%3E%200", "[]", 415, "unsupported_media_type",
            headers: [(type, "application/json-patch+json")]),
    ]

    static let targets: [Bad] = [
        Bad("POST", "objects/Cat", "{}", 404, "class_not_found"),
        Bad("PUT", "objects/Cat/1", "{}", 404, "class_not_found"),
        Bad("PATCH", "objects/Dog/9", "{}", 404, "object_not_found"),
        Bad("PATCH", "objects/Dog/x", "{}", 404, "object_not_found"),
        Bad("DELETE", "objects/Dog/9", nil, 404, "object_not_found"),
        Bad("PUT", "objects/Dog/9/age", "1", 404, "object_not_found"),
        Bad("PUT", "objects/Dog/1/agee", "1", 404, "not_found"),
        Bad("PUT", "objects/Dog/x", #"{"age":1}"#, 404, "object_not_found"),
        Bad("PUT", "objects/Note/@k99", #"{"text":"t"}"#, 404, "object_not_found", headers: [("If-None-Match", "*")]),
        Bad("POST", "objects/Chip", #"{"code":"c"}"#, 405, "method_not_allowed"),
        Bad("DELETE", "objects/Chip/@k0", nil, 405, "method_not_allowed"),
        Bad("PATCH", "objects/Chip?where=TRUEPREDICATE", "{}", 405, "method_not_allowed"),
        Bad("PUT", "schema", "{}", 405, "method_not_allowed"),
        Bad("POST", "objects/Dog/1", "{}", 405, "method_not_allowed"),
        Bad("GET", "writes/none", nil, 404, "not_found"),
        Bad("DELETE", "writes/none", nil, 404, "not_found"),
        Bad("GET", "transactions/none", nil, 404, "not_found"),
        Bad("DELETE", "transactions/none", nil, 404, "not_found"),
        Bad("POST", "transactions/none/commit", nil, 404, "not_found"),
        Bad("GET", "objects/Dog/1", nil, 404, "not_found", headers: [("Realm-Transaction", "none")]),
        Bad("DELETE", "objects/Dog/1", nil, 404, "not_found", headers: [("Realm-Transaction", "none")]),
        Bad("POST", "objects/Note", #"{"text":"t"}"#, 428, "precondition_required"),
    ]

    static let values: [Bad] = [
        Bad("POST", "objects/Dog", "3", 422, "type_mismatch"),
        Bad("POST", "objects/Dog", "[3]", 422, "type_mismatch", ["pointer": "/0"]),
        Bad("POST", "objects/Dog", #"[{"_id":8,"age":1},{"_id":9,"age":"x"}]"#, 422, "type_mismatch", ["pointer": "/1/age"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"agee":2}"#, 422, "unknown_property", ["pointer": "/agee"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"$x":2}"#, 422, "unknown_property", ["pointer": "/$x"]),
        Bad("POST", "objects/Dog", #"{"_id":9}"#, 422, "missing_property"),
        Bad("POST", "objects/Dog", #"{"age":9}"#, 422, "missing_property"),
        Bad("POST", "objects/Person", "{}", 422, "missing_property"),
        Bad("POST", "objects/Dog", #"{"_id":1,"age":9}"#, 409, "duplicate_key", ["pointer": "/_id"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":null}"#, 422, "null_not_allowed", ["pointer": "/age"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"tags":null}"#, 422, "null_not_allowed", ["pointer": "/tags"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"tags":["a",null]}"#, 422, "null_not_allowed", ["pointer": "/tags/1"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1.5}"#, 422, "type_mismatch", ["pointer": "/age"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":9223372036854775808}"#, 422, "out_of_range", ["pointer": "/age"]),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1,"marks":{"a.b":1}}"#, 422, "invalid_dictionary_key",
            ["pointer": "/marks/a.b"]),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1,"marks":{"$a":1}}"#, 422, "invalid_dictionary_key", ["pointer": "/marks/$a"]
        ),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1,"any":{"$foo":1}}"#, 422, "invalid_dictionary_key", ["pointer": "/any/$foo"]
        ),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"owner":"bob"}"#, 422, "link_target_missing", ["pointer": "/owner"]),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1,"owner":{"$link":{"class":"Dog","key":"1"}}}"#, 422, "type_mismatch",
            ["pointer": "/owner"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"owner":{"$link":{"class":"Cat","key":"1"}}}"#, 422, "link_target_missing"),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"owner":{"$link":"ann"}}"#, 422, "type_mismatch", ["pointer": "/owner"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"owner":{"id":"bob"}}"#, 422, "nested_object", ["pointer": "/owner"]),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1,"chip":{"$link":{"class":"Chip","key":"@k0"}}}"#, 422, "type_mismatch",
            ["pointer": "/chip"]),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1,"any":{"$link":{"class":"Chip","key":"@k0"}}}"#, 422, "type_mismatch",
            ["pointer": "/any"]),
        Bad("POST", "objects/Dog", #"{"_id":9,"age":1,"chip":{}}"#, 422, "missing_property", ["pointer": "/chip"]),
        Bad("POST", "objects/Person", #"{"id":"x","dogs":[null]}"#, 422, "null_not_allowed", ["pointer": "/dogs/0"]),
        Bad("PUT", "objects/Dog/1", #"{"_id":2,"age":1}"#, 422, "key_mismatch", ["pointer": "/_id"]),
        Bad("PATCH", "objects/Dog/1", #"{"_id":2}"#, 422, "primary_key_immutable", ["pointer": "/_id"]),
        Bad("POST", "objects/Note?upsert=all", #"{"text":"t"}"#, 422, "no_primary_key", headers: [("If-None-Match", "*")]),
        Bad("POST", "objects/Value", #"{"_id":9,"decimal":12.50}"#, 422, "decimal_needs_string", ["pointer": "/decimal"]),
        Bad(
            "POST", "objects/Value", #"{"_id":9,"decimal":"12345678901234567890123456789012345"}"#, 422, "out_of_range",
            ["pointer": "/decimal"]),
        Bad("POST", "objects/Value", #"{"_id":9,"float":1e39}"#, 422, "out_of_range", ["pointer": "/float"]),
        Bad("POST", "objects/Value", #"{"_id":9,"double":1e999}"#, 422, "out_of_range", ["pointer": "/double"]),
        Bad("POST", "objects/Value", #"{"_id":9,"date":5}"#, 422, "type_mismatch", ["pointer": "/date"]),
        Bad("POST", "objects/Value", #"{"_id":9,"date":"2026-01-01T00:00:00"}"#, 422, "type_mismatch", ["pointer": "/date"]),
        Bad(
            "POST", "objects/Value", #"{"_id":9,"date":"2026-01-01T00:00:00.1234567890Z"}"#, 422, "type_mismatch",
            ["pointer": "/date"]),
        Bad("POST", "objects/Value", #"{"_id":9,"date":{"$date":[1,2]}}"#, 422, "type_mismatch", ["pointer": "/date"]),
        Bad("POST", "objects/Value", #"{"_id":9,"data":"AQI"}"#, 422, "type_mismatch", ["pointer": "/data"]),
        Bad(
            "POST", "objects/Value", #"{"_id":9,"int":{"$numberLong":"9223372036854775808"}}"#, 422, "out_of_range",
            ["pointer": "/int"]),
        Bad("POST", "objects/Value", #"{"_id":9,"int":{"$numberDouble":"1"}}"#, 422, "type_mismatch", ["pointer": "/int"]),
        Bad("POST", "objects/Value", #"{"_id":9,"oid":"xyz"}"#, 422, "type_mismatch", ["pointer": "/oid"]),
        Bad("POST", "objects/Value", #"{"_id":9,"flag":1}"#, 422, "type_mismatch", ["pointer": "/flag"]),
        Bad("POST", "objects/Value", #"{"_id":9,"map":{"a":{"$oid":"1"}}}"#, 422, "type_mismatch", ["pointer": "/map/a"]),
        Bad(
            "POST", "objects/Dog", "{\"_id\":8,\"age\":1}\n\n{\"_id\":9,\"age\":\"x\"}", 422, "type_mismatch",
            ["pointer": "/age", "line": "3"], headers: [(type, "application/x-ndjson")]),
        Bad(
            "POST", "objects/Dog", "{\"_id\":8,\"age\":1}\n{", 400, "invalid_json", ["line": "2"],
            headers: [(type, "application/x-ndjson")]),
    ]

    private static func patch(_ body: String, _ status: Int, _ code: String, _ members: [String: String] = [:]) -> Bad {
        Bad("PATCH", "objects/Dog/1", body, status, code, members, headers: [(type, "application/json-patch+json")])
    }

    static let patches: [Bad] = [
        patch("{}", 400, "invalid_body"),
        patch(#"[{"op":"ad","path":"/age"}]"#, 400, "invalid_body", ["pointer": "/0"]),
        patch(#"[{"op":"add","path":"age","value":1}]"#, 400, "invalid_body", ["pointer": "/0/path"]),
        patch(#"[{"op":"add","path":"/age"}]"#, 400, "invalid_body", ["pointer": "/0"]),
        patch(#"[{"op":"move","path":"/age"}]"#, 400, "invalid_body", ["pointer": "/0/from"]),
        patch(#"[{"op":"replace","path":"/agee","value":1}]"#, 422, "unknown_property", ["pointer": "/0/path"]),
        patch(#"[{"op":"replace","path":"/tags/9","value":"x"}]"#, 422, "path_not_found", ["pointer": "/0/path"]),
        patch(
            #"[{"op":"add","path":"/tags/-","value":"x"},{"op":"add","path":"/tags/9","value":"x"}]"#, 422, "path_not_found",
            ["pointer": "/1/path"]),
        patch(#"[{"op":"remove","path":"/marks/none"}]"#, 422, "path_not_found"),
        patch(#"[{"op":"remove","path":"/age"}]"#, 422, "null_not_allowed"),
        patch(#"[{"op":"test","path":"/age","value":4}]"#, 409, "patch_test_failed"),
        patch(#"[{"op":"replace","path":"/_id","value":4}]"#, 422, "primary_key_immutable"),
        patch(#"[{"op":"add","path":"/tags","value":["a",5]}]"#, 422, "type_mismatch", ["pointer": "/0/value/1"]),
    ]

    private static func batch(_ op: String, _ status: Int, _ code: String, _ members: [String: String] = [:]) -> Bad {
        Bad("POST", "batch", #"{"ops":[{"patch":{"class":"Dog","key":"1","body":{"age":7}}},"# + op + "]}", status, code, members)
    }

    /// An operation behind those that make an object with the name `c` and delete it.
    private static func deleted(_ op: String, _ status: Int, _ code: String) -> Bad {
        let before = #"{"create":{"as":"c","class":"Dog","body":{"_id":7,"age":1}}},{"delete":{"class":"Dog","key":"7"}},"#
        return Bad("POST", "batch", #"{"ops":["# + before + op + "]}", status, code, ["op": "2"])
    }

    static let batches: [Bad] = [
        Bad("POST", "batch", "[]", 400, "invalid_body"),
        Bad("POST", "batch", "{}", 400, "invalid_body", ["pointer": "/ops"]),
        Bad("POST", "batch", #"{"ops":{}}"#, 400, "invalid_body", ["pointer": "/ops"]),
        Bad("POST", "batch", #"{"ops":[],"x":1}"#, 400, "invalid_body", ["pointer": "/x"]),
        Bad("POST", "batch/Cat", #"{"ops":[]}"#, 404, "class_not_found"),
        Bad("POST", "batch/Chip", #"{"ops":[]}"#, 405, "method_not_allowed"),
        Bad("POST", "batch/Dog", "[]", 400, "invalid_body"),
        Bad(
            "POST", "batch/Dog", #"{"ops":[{"delete":{"class":"Dog","key":"1"}}]}"#, 400, "invalid_body",
            ["op": "0", "pointer": "/ops/0/delete/class"]),
        Bad("POST", "batch/Dog", #"{"ops":[{"delete":{"key":"9"}}]}"#, 404, "object_not_found", ["op": "0"]),
        batch("{}", 400, "invalid_body", ["op": "1", "pointer": "/ops/1"]),
        batch(#"{"creat":{}}"#, 400, "invalid_body", ["op": "1", "pointer": "/ops/1/creat"]),
        batch(#"{"create":{"class":"Dog"}}"#, 400, "invalid_body", ["op": "1"]),
        batch(#"{"create":{"class":"Dog","body":{},"x":1}}"#, 400, "invalid_body", ["pointer": "/ops/1/create/x"]),
        batch(#"{"create":{"class":"Dog","body":[]}}"#, 422, "type_mismatch", ["op": "1", "pointer": "/ops/1/create/body"]),
        batch(#"{"create":{"class":"Cat","body":{}}}"#, 404, "class_not_found", ["op": "1"]),
        batch(#"{"create":{"class":"Chip","body":{"code":"c"}}}"#, 405, "method_not_allowed", ["op": "1"]),
        batch(#"{"delete":{"class":"Dog","key":"9"}}"#, 404, "object_not_found", ["op": "1"]),
        batch(#"{"delete":{"class":"Dog","key":{"ref":"t"}}}"#, 422, "link_target_missing", ["op": "1"]),
        // It was 500, as for a damaged file.
        deleted(#"{"create":{"class":"Dog","body":{"_id":8,"age":1,"any":{"$link":{"ref":"c"}}}}}"#, 422, "link_target_missing"),
        deleted(#"{"patch":{"class":"Dog","key":{"ref":"c"},"body":{"age":2}}}"#, 404, "object_not_found"),
        batch(#"{"delete":{"class":"Dog","key":1}}"#, 400, "invalid_body", ["pointer": "/ops/1/delete/key"]),
        batch(
            #"{"patch":{"class":"Dog","key":"1","body":{"age":"x"}}}"#, 422, "type_mismatch",
            ["op": "1", "pointer": "/ops/1/patch/body/age"]),
        batch(
            #"{"patch":{"class":"Dog","key":"1","body":[{"op":"test","path":"/age","value":3}]}}"#, 409, "patch_test_failed",
            ["op": "1", "pointer": "/ops/1/patch/body/0"]),
        batch(#"{"patch":{"class":"Dog","key":"1","body":{},"ifMatch":"\"x\""}}"#, 412, "precondition_failed", ["op": "1"]),
        batch(#"{"put":{"class":"Dog","key":"1","body":{"age":1},"ifNoneMatch":"*"}}"#, 412, "precondition_failed", ["op": "1"]),
        batch(#"{"patchWhere":{"class":"Dog","body":{}}}"#, 400, "missing_where", ["op": "1"]),
        batch(
            #"{"deleteWhere":{"class":"Dog","where":"age >"}}"#, 400, "invalid_query",
            ["op": "1", "pointer": "/ops/1/deleteWhere/where"]),
        batch(#"{"deleteWhere":{"class":"Dog","where":"agee > 1"}}"#, 400, "unknown_key_path", ["op": "1"]),
        batch(
            #"{"deleteWhere":{"class":"Dog","where":"age > $0","args":[{"$foo":1}]}}"#, 400, "invalid_parameter",
            ["op": "1", "pointer": "/ops/1/deleteWhere/args/0"]),
        batch(
            #"{"deleteWhere":{"class":"Dog","where":"TRUEPREDICATE","maxAffected":1}}"#, 409, "too_many_affected",
            ["op": "1", "limit": "1"]),
        batch(#"{"assert":{"class":"Dog","key":"1","where":"age == 3"}}"#, 409, "assertion_failed", ["op": "1"]),
        batch(#"{"assert":{"class":"Dog","key":"9"}}"#, 409, "assertion_failed", ["op": "1"]),
        batch(#"{"assert":{"class":"Dog","where":"age > 100"}}"#, 409, "assertion_failed", ["op": "1"]),
        batch(#"{"assert":{"class":"Dog","where":"age > 0","count":1}}"#, 409, "assertion_failed", ["op": "1"]),
        batch(
            #"{"increment":{"class":"Dog","key":"1","property":"age","by":9223372036854775807}}"#, 422, "out_of_range",
            ["op": "1"]),
        batch(#"{"increment":{"class":"Dog","key":"1","property":"name","by":1}}"#, 422, "type_mismatch", ["op": "1"]),
        batch(#"{"increment":{"class":"Dog","key":"1","property":"agee","by":1}}"#, 422, "unknown_property", ["op": "1"]),
        batch(
            #"{"increment":{"class":"Dog","key":"1","property":"age","by":"x"}}"#, 422, "type_mismatch",
            ["pointer": "/ops/1/increment/by"]),
        batch(#"{"increment":{"class":"Value","key":"1","property":"int","by":1}}"#, 422, "null_not_allowed", ["op": "1"]),
        batch(#"{"list":{"class":"Dog","key":"1","property":"marks","ops":[{"add":1}]}}"#, 422, "type_mismatch", ["op": "1"]),
        batch(#"{"list":{"class":"Dog","key":"1","property":"tagz","ops":[{"add":"x"}]}}"#, 422, "unknown_property", ["op": "1"]),
        batch(
            #"{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"set":[9,"x"]}]}}"#, 422, "path_not_found",
            ["op": "1", "pointer": "/ops/1/list/ops/0/set"]),
        batch(
            #"{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"add":"y"},{"add":5}]}}"#, 422, "type_mismatch",
            ["pointer": "/ops/1/list/ops/1/add"]),
        batch(#"{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"put":1}]}}"#, 400, "invalid_body", ["op": "1"]),
        batch(#"{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"move":[0]}]}}"#, 400, "invalid_body", ["op": "1"]),
        batch(
            #"{"list":{"class":"Dog","key":"1","property":"tags","ops":[{"deleteAll":true}]}}"#, 422, "type_mismatch", ["op": "1"]
        ),
        batch(
            #"{"dictionary":{"class":"Dog","key":"1","property":"marks","ops":[{"set":["a.b",1]}]}}"#, 422,
            "invalid_dictionary_key", ["op": "1"]),
        batch(#"{"set":{"class":"Dog","key":"1","property":"ids","ops":[{"insert":"x"}]}}"#, 422, "type_mismatch", ["op": "1"]),
    ]

    static let headers: [Bad] = [
        Bad("PATCH", "objects/Dog/1", "{}", 412, "precondition_failed", headers: [("If-Match", "\"none\"")]),
        Bad("PATCH", "objects/Dog/1", "{}", 412, "precondition_failed", headers: [("If-None-Match", "*")]),
        Bad("PUT", "objects/Dog/1", #"{"age":1}"#, 412, "precondition_failed", headers: [("If-None-Match", "*")]),
        Bad("PUT", "objects/Dog/77", #"{"age":1}"#, 412, "precondition_failed", headers: [("If-Match", "*")]),
        Bad("DELETE", "objects/Dog/77", nil, 404, "object_not_found", headers: [("If-Match", "*")]),
        Bad("PATCH", "objects/Dog/1", "{}", 412, "precondition_failed", headers: [("If-Match", "\"v.aaaaaaaa.1\"")]),
        Bad("DELETE", "objects/Dog?where=TRUEPREDICATE", nil, 412, "precondition_failed", headers: [("If-Match", "\"none\"")]),
        Bad("POST", "batch", #"{"ops":[]}"#, 412, "precondition_failed", headers: [("If-Match", "*")]),
        Bad("PATCH", "objects/Dog/1", "{}", 400, "invalid_parameter", ["header": "If-Match"], headers: [("If-Match", "none")]),
        Bad(
            "POST", "objects/Dog", #"{"_id":9,"age":1}"#, 400, "invalid_parameter", ["header": "Idempotency-Key"],
            headers: [("Idempotency-Key", "a b")]),
        Bad("POST", "transactions", "{}", 409, "transaction_busy", headers: [("Realm-Transaction", "t")]),
        Bad("POST", "transactions", #"{"wait":"2"}"#, 400, "invalid_parameter", ["pointer": "/wait"]),
        Bad("POST", "transactions", #"{"wait":"11s"}"#, 400, "invalid_parameter", ["limit": "10"]),
        Bad("POST", "transactions", #"{"wart":"1s"}"#, 400, "invalid_body", ["pointer": "/wart"]),
    ]

    @Test(arguments: bodies + targets + values)
    func `a refused write has its own code and leaves no trace`(_ bad: Bad) throws { try check(bad) }

    @Test(arguments: patches + batches + headers)
    func `a refused patch, batch or condition has its own code and leaves no trace`(_ bad: Bad) throws { try check(bad) }

    private func check(_ bad: Bad) throws {
        let (server, bytes) = RefusedWriteTests.server
        let answer = try server.send(bad.method, "app/" + bad.path, bad.body, bad.headers)
        #expect(answer.status == bad.status, "\(answer.text)")
        #expect(answer.code == bad.code)
        for (name, value) in bad.members {
            #expect(answer.json[name]?.plainText == value, "\(name) in \(answer.text)")
        }
        if bad.status == 405 { #expect(answer["Allow"] != nil) }
        if bad.status == 412, bad.method != "POST", !bad.path.contains("where") { #expect(answer.json["current"] != nil) }
        #expect(try server.bytes() == bytes)
    }
}

extension WriteServer {
    /// Fills a server whose limits are too narrow for the usual way, and returns the bytes of the file.
    static func filled(_ server: WriteServer) throws -> Data {
        for (method, path, body) in [
            ("POST", "objects/Person", #"{"id":"ann"}"#),
            (
                "POST", "objects/Dog",
                #"{"_id":1,"name":"Rex","age":3,"tags":["a","b"],"marks":{"art":1},"owner":"ann","chip":{"code":"c1"},"ids":[1,2]}"#
            ),
            ("POST", "objects/Dog", #"{"_id":2,"age":5}"#), ("POST", "objects/Value", #"{"_id":1}"#),
        ] {
            let answer = try server.send(method, "app/" + path, body)
            guard answer.status == 201 else { throw Damaged(description: answer.text) }
        }
        return try server.bytes()
    }
}
