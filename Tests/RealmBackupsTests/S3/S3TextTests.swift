// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// The texts that tell where a bucket is and who signs.
@Suite struct S3TextTests {
    @Test(arguments: [
        "backups", "s3://", "s3://ab", "s3:///prefix", "s3://Upper", "s3://bucket//a", "s3://bucket/a/../b", "s3://-bucket",
        "s3://bu_cket", "s3://bucket/a\nb", "http://bucket/a", "s3://user@bucket", "s3://\(String(repeating: "b", count: 64))",
        "s3://bucket/\(String(repeating: "p", count: 513))",
    ])
    func `what names no bucket is refused`(_ text: String) { #expect(S3Location(text) == nil) }

    @Test func `a bucket has a prefix or none`() throws {
        let plain = try #require(S3Location("s3://my.bucket-1"))
        #expect(plain.bucket == "my.bucket-1" && plain.prefix == "")
        #expect(S3Location("s3://my.bucket-1/") == plain)
        #expect(S3Location("s3://bucket/a/b c/")?.prefix == "a/b c")
    }

    @Test func `answers are read as XML without types, and what is none is refused`() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?><!-- a > b -->
            <s3:List xmlns:s3="u"><Key>a&amp;b&lt;&#x41;&#66;</Key><Empty/><Contents a="1"><Size>5</Size></Contents>
            <Contents><Size>6</Size></Contents></s3:List>
            """
        let root = try #require(XMLElement.read(Array(text.utf8)))
        #expect(root.name == "List" && root["Key"] == "a&b<AB" && root["Empty"] == "" && root["None"] == nil)
        #expect(root.children.compactMap { $0["Size"] } == ["5", "6"])
        let deep = String(repeating: "<a>", count: XMLElement.maximumDepth)
        let end = String(repeating: "</a>", count: XMLElement.maximumDepth)
        #expect(XMLElement.read(Array((deep + end).utf8)) != nil)
        for text in [
            "", "a", "<a>", "<a></b>", "</a>", "<a>&x;</a>", "<a>&#x110000;</a>", "<a>&amp</a>", "<!DOCTYPE a><a></a>", "<a",
            "<>",
            "<!-- <a></a>", "<b>" + deep + end + "</b>",
        ] {
            #expect(XMLElement.read(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test func `an endpoint is scheme, host and port`() {
        for text in ["s3.example.com", "ftp://a", "http://", "http://a/b", "http://user@a", "http://a?b", "https://a b"] {
            #expect(S3Endpoint(text) == nil, "\(text)")
        }
        #expect(S3Endpoint("http://127.0.0.1:9000/") == S3Endpoint("http://127.0.0.1:9000"))
        #expect(S3Endpoint("https://[::1]:9000") != nil)
        #expect(S3Endpoint.isRegion("eu-central-1") && !S3Endpoint.isRegion("eu central") && !S3Endpoint.isRegion(""))
    }

    @Test func `credentials come from the environment or from a file, and a bad file is not quoted`() throws {
        let environment = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"]
        #expect(S3Credentials { environment[$0] } == S3Credentials(id: "a", secret: "b", token: "c"))
        #expect(S3Credentials { $0 == "AWS_ACCESS_KEY_ID" ? "a" : "" } == nil)
        let path = NSTemporaryDirectory() + "realm-rest-credentials-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = """
            # a comment
            [other]
            aws_access_key_id = no
            [default]
            aws_access_key_id = id
            aws_secret_access_key=s/e=c+ret
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try S3Credentials(contentsOfFile: path) == S3Credentials(id: "id", secret: "s/e=c+ret"))
        try "aws_access_key_id = sesame".write(toFile: path, atomically: true, encoding: .utf8)
        do {
            _ = try S3Credentials(contentsOfFile: path)
            Issue.record("half of a key is taken")
        } catch {
            #expect(error.description.contains("aws_secret_access_key") && !error.description.contains("sesame"))
        }
    }
}
