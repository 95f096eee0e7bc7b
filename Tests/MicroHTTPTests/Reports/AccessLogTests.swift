// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
@testable import MicroHTTP
import RealmFormats
import RealmHosting
import RealmTestSupport
import Testing

/// Which requests are worth a line of the log, and what stands in it.
@Suite struct AccessLogTests {
    private func lines(_ level: AccessLog.Level, _ format: AccessLog.Format) throws -> [String] {
        let pipe = Pipe()
        let log = try AccessLog(format: format, level: level, descriptor: pipe.fileHandleForWriting.fileDescriptor)
        for status in [200, 404, 500] {
            log.write(
                AccessLog.Entry(
                    id: "r\(status)", method: "GET", route: "/v1/realms", status: status, bytes: 12, seconds: 0.0025,
                    principal: "key:ab", client: "192.0.2.7", version: "abc.7", traceparent: nil, query: "name == \"x\""))
        }
        log.close()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    @Test(
        arguments: zip(
            AccessLog.Level.allCases, [["r200", "r404", "r500"], ["r200", "r404", "r500"], ["r404", "r500"], ["r500"]]))
    func `the level decides`(_ level: AccessLog.Level, _ ids: [String]) throws {
        for format in AccessLog.Format.allCases {
            let lines = try lines(level, format)
            #expect(lines.count == ids.count, "\(format)")
            for (line, id) in zip(lines, ids) {
                #expect(line.contains(id))
                #expect(line.contains("2.500") && line.contains("key:ab") && line.contains("192.0.2.7"))
                #expect(line.contains("name ==") == (level == .debug))
            }
        }
    }

    @Test func `a line is JSON`() throws {
        for line in try lines(.debug, .json) {
            let object = try ParsedJSON(parsing: String(line))
            #expect(object["query"]?.text == "name == \"x\"")
            #expect(object["version"]?.text == "abc.7")
            #expect(object["duration"]?.double == 2.5)
            #expect(object["principal"]?.text == "key:ab" && object["client"]?.text == "192.0.2.7")
        }
    }

    @Test func `messages of the engine are lines of the same log in the same form`() throws {
        let pipe = Pipe()
        let log = try AccessLog(format: .json, level: .info, descriptor: pipe.fileHandleForWriting.fileDescriptor)
        var logger = EventLogHandler.logger(log)
        logger[metadataKey: "realm"] = "app"
        logger.debug("below the level")
        logger.notice("file \"compacted\"", metadata: ["bytesBefore": "9", "bytesAfter": "4"])
        log.setFormat(.text)
        logger.critical("two\nlines", metadata: ["reason": "a b"])
        log.close()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = text.split(separator: "\n")
        try #require(lines.count == 2, "\(text)")
        let line = try ParsedJSON(parsing: String(lines[0]))
        #expect(line["event"]?.text == "file \"compacted\"" && line["level"]?.text == "info" && line["realm"]?.text == "app")
        #expect(line["bytesBefore"]?.text == "9" && line["bytesAfter"]?.text == "4" && line["time"] != nil)
        #expect(lines[1].hasSuffix(#" error "two\nlines" realm="app" reason="a b""#), "\(text)")
    }
}
