// SPDX-License-Identifier: Apache-2.0

private import CExpat
internal import RealmPlatform

/// An element of one of the XML documents with which S3 stores answer: its name, the text in it, and the elements
/// in it. Attributes, comments and namespaces are left out.
///
/// Documents with declarations of types are refused, so entities are those five that XML has itself, and characters by their numbers.
package struct XMLElement: Equatable {
    /// Without a namespace prefix.
    package let name: String
    /// The characters directly in it, one after another.
    package var text = ""
    package var children: [XMLElement] = []

    /// The depth of nested elements.
    package static let maximumDepth = 16

    /// Returns the text of the first element of a name; nil when there is none.
    package subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    /// Reads a document in UTF-8; nil when it is none, or is deeper than `maximumDepth`.
    package static func read(_ bytes: [UInt8]) -> XMLElement? {
        guard let length = Int32(exactly: bytes.count), let parser = unsafe XML_ParserCreate("UTF-8") else { return nil }
        defer { unsafe XML_ParserFree(parser) }
        let reading = unsafe Reading(parser)
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(reading).toOpaque())
        unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in unsafe Reading.of(data).refuse() }
        unsafe XML_SetElementHandler(
            parser, { data, name, _ in unsafe Reading.of(data).begin(name.map { unsafe String(cString: $0) } ?? "") },
            { data, _ in unsafe Reading.of(data).end() })
        unsafe XML_SetCharacterDataHandler(parser) { data, characters, count in
            unsafe Reading.of(data).append(UnsafeRawBufferPointer(start: characters, count: Int(count)))
        }
        let status = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe XML_Parse(parser, $0.baseAddress, length, 1) }
        }
        return withExtendedLifetime(reading) { status == XML_STATUS_OK ? reading.root : nil }
    }

    /// The elements that have begun and not ended, while the library calls.
    @safe private final class Reading {
        private let parser: XML_Parser
        private var open: [XMLElement] = []
        var root: XMLElement?

        init(_ parser: XML_Parser) { unsafe self.parser = unsafe parser }

        static func of(_ data: UnsafeMutableRawPointer?) -> Reading {
            unsafe Unmanaged<Reading>.fromOpaque(data.unsafelyUnwrapped).takeUnretainedValue()
        }

        func refuse() { _ = unsafe XML_StopParser(parser, 0) }

        func begin(_ name: String) {
            guard open.count < XMLElement.maximumDepth else { return refuse() }
            open.append(XMLElement(name: name.split(separator: ":").last.map { String($0) } ?? name))
        }

        func append(_ characters: UnsafeRawBufferPointer) {
            guard !open.isEmpty else { return }
            open[open.count - 1].text += unsafe String(decoding: characters, as: UTF8.self)
        }

        func end() {
            // After a refusal the library may still end elements that it has begun.
            guard let last = open.popLast() else { return }
            if open.isEmpty { root = last } else { open[open.count - 1].children.append(last) }
        }
    }
}
