// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Data properties by plain links, as elements of pages and the address bars of browsers follow them.
@Suite struct DataLinkTests {
    /// What Chromium sends for `<img src>`, and for the address bar.
    private static let picture = [("Accept", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8")]
    private static let page = [("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")]
    private static let path = "app/objects/Value/1/data"

    private static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) + Data((0..<200).map { UInt8($0) })

    /// Runs a body with a server whose data property has a value.
    private func withData(_ data: Data, _ body: (WriteServer) throws -> Void) throws {
        let server = try WriteServer()
        #expect(try server.send("POST", "app/objects/Value", #"{"_id":1,"data":"\#(data.base64EncodedString())"}"#).status == 201)
        try body(server)
        try server.finish()
    }

    @Test(arguments: [
        (png, "image/png"), (Data([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"), (Data("GIF89a...".utf8), "image/gif"),
        (Data("RIFF....WEBPVP8 ".utf8), "image/webp"), (Data("....ftypavif".utf8), "image/avif"),
        (Data("%PDF-1.7".utf8), "application/pdf"), (Data("Grüße\n".utf8), "text/plain; charset=utf-8"),
        (Data("<html><script>alert(1)</script>".utf8), "text/plain; charset=utf-8"),
        (Data("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".utf8), "text/plain; charset=utf-8"),
        (Data([1, 2, 3]), "application/octet-stream"), (Data(), "application/octet-stream"),
        (Data(repeating: 0x61, count: 65_535) + Data("é".utf8), "text/plain; charset=utf-8"),
    ])
    func `a link gives the bytes with a type out of a safe list`(_ data: Data, _ type: String) throws {
        try withData(data) { server in
            for accept in [DataLinkTests.picture, DataLinkTests.page] {
                let answer = try server.get(DataLinkTests.path, accept)
                #expect(answer.status == 200)
                #expect(answer.body == Array(data))
                #expect(answer["Content-Type"] == type)
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Content-Security-Policy"]?.contains("sandbox") == true)
                #expect(
                    answer["Content-Disposition"]?.hasPrefix(type == "application/octet-stream" ? "attachment" : "inline") == true
                )
            }
        }
    }

    @Test func `programs get JSON as before, and bytes when they name them`() throws {
        try withData(DataLinkTests.png) { server in
            for accept in [[], [("Accept", "*/*")], [("Accept", "application/json")], [("Accept", "application/json, */*")]] {
                #expect(try server.get(DataLinkTests.path, accept)["Content-Type"] == "application/json")
            }
            let octets = try server.get(DataLinkTests.path, [("Accept", "application/octet-stream")])
            #expect(octets["Content-Type"] == "application/octet-stream")
            #expect(try server.get(DataLinkTests.path + "?format=bytes")["Content-Type"] == "image/png")
            #expect(
                try server.get(DataLinkTests.path + "?format=json", DataLinkTests.picture)["Content-Type"] == "application/json")
            // Other properties have no bytes.
            #expect(try server.get("app/objects/Value/1/text", DataLinkTests.page)["Content-Type"] == "application/json")
            #expect(try server.get("app/objects/Value/1/text?format=bytes").code == "not_acceptable")
            _ = try server.send("PATCH", "app/objects/Value/1", #"{"data":null}"#)
            #expect(try server.get(DataLinkTests.path, DataLinkTests.picture).status == 204)
        }
    }

    @Test func `a part is sent to who asks for one`() throws {
        try withData(DataLinkTests.png) { server in
            let whole = Array(DataLinkTests.png)
            let tag = try #require(try server.get(DataLinkTests.path, DataLinkTests.picture)["ETag"])
            func part(_ range: String, _ more: [(String, String)] = []) throws -> HTTPClient.Answer {
                try server.get(DataLinkTests.path, [("Range", range)] + more)
            }
            for (range, expected) in [
                ("bytes=0-3", 0..<4), ("bytes=200-", 200..<208), ("bytes=-8", 200..<208), ("bytes=5-9999", 5..<208),
            ] {
                let answer = try part(range)
                #expect(answer.status == 206)
                #expect(answer.body == Array(whole[expected]))
                #expect(answer["Content-Range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/208")
                #expect(answer["Accept-Ranges"] == "bytes" && answer["ETag"] == tag)
            }
            for range in ["bytes=208-", "bytes=-0", "bytes=99999999999999999999-"] {
                let answer = try part(range)
                #expect(answer.status == 416 && answer.code == "range_not_satisfiable")
                #expect(answer["Content-Range"] == "bytes */208")
            }
            for range in ["bytes=0-1,4-5", "bytes=9-3", "items=0-1", "bytes=a-b", "bytes="] {
                #expect(try part(range).body == whole, "\(range)")
            }
            #expect(try part("bytes=0-3", [("If-Range", tag)]).status == 206)
            #expect(try part("bytes=0-3", [("If-Range", "\"other\"")]).status == 200)
            // The tag is that of the bytes: other commits leave it alone.
            _ = try server.send("POST", "app/objects/Value", #"{"_id":2}"#)
            #expect(try server.get(DataLinkTests.path, DataLinkTests.picture + [("If-None-Match", tag)]).status == 304)
            _ = try server.send("PATCH", "app/objects/Value/1", #"{"data":"AAAA"}"#)
            #expect(try part("bytes=0-1", [("If-Range", tag)]).status == 200)
            // A kept answer is never sent for a part.
            for _ in 0..<4 { #expect(try server.get(DataLinkTests.path, DataLinkTests.picture).body == [0, 0, 0]) }
            #expect(try server.get(DataLinkTests.path, DataLinkTests.picture + [("Range", "bytes=1-1")]).status == 206)
        }
    }

    @Test(arguments: [
        ("", "filename=\"data.png\""), ("=photo.png", "filename=\"photo.png\""),
        ("=Gr%C3%BC%C3%9Fe%22.png", "filename=\"Gr__e_.png\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%22.png"),
        ("=..%2F..%2Fetc%2Fpasswd", "filename=\"_.._etc_passwd\""), ("=a%0D%0AX-Y:%20b", "filename=\"a__X-Y: b\""),
    ])
    func `a download has a harmless name`(_ parameter: String, _ expected: String) throws {
        try withData(DataLinkTests.png) { server in
            let answer = try server.get(DataLinkTests.path + "?download" + parameter)
            #expect(answer.status == 200)
            #expect(answer["Content-Disposition"] == "attachment; " + expected)
            #expect(answer["X-Y"] == nil)
        }
    }
}
