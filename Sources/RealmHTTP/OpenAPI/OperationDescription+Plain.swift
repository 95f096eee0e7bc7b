// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension OperationDescription {
    /// Parameters whose other values lead to representations that a typed client cannot read.
    private static let formats: Set<ByteText> = [
        "DocumentFormat", "Format", "PropertyFormat", "ExportFormat", "ComparisonFormat", "ForExcel", "SchemaFormat", "Heartbeat",
        "LastEventId",
        "Download",
        "Range", "IfRange",
    ]

    /// Returns the operation as the description of a realm has it: in plain JSON, with one schema for success.
    ///
    /// An export stays lines, described as bytes, which all clients can receive. A write whose success is an empty response
    /// is not described as one that can be done later, since generators would take the state of that for its result.
    ///
    /// - Parameter ints: The form of integers that the document describes.
    func inPlainJSON(_ ints: OpenAPIDocument.Integers) -> OperationDescription {
        var answers = responses.members.filter { !$0.value.refersToDryRun }.map { OperationDescription.plain($0) }
        let successes = answers.map(\.name).filter { $0 < "3" }
        let isEmpty = successes.allSatisfy(["202", "204"].contains)
        if isEmpty { answers.removeAll { $0.name == "202" } }
        // Parts are of bytes, which a client asks for by Range or another form.
        if successes.contains("200") { answers.removeAll { ["204", "206"].contains($0.name) } }
        let hasDryRun = answers.contains { $0.value.refers(to: "BatchResult") }
        let kept = parameters.filter { name in
            !OperationDescription.formats.contains(name) && (name != "Ints" || ints == .string) && (name != "DryRun" || hasDryRun)
                && (name != "Prefer" || !isEmpty)
        }
        let types = bodyTypes.contains(BodyTypes(.json)) ? BodyTypes(.json) : bodyTypes.subtracting(BodyTypes(.csv))
        var plain = OperationDescription(
            id, summary, details: details, tag: tag, parameters: kept, taking: types, body: body, bodyText: bodyText,
            requiresBody: requiresBody, responses: .object(answers), problems: problems)
        plain.sendsLinesAsBytes = true
        return plain
    }

    /// Returns a response with one media type.
    private static func plain(_ member: DocumentValue.Member) -> DocumentValue.Member {
        guard let content = member.value["content"] else { return member }
        let lines = DocumentValue.Member(
            "application/x-ndjson", ["schema": ["type": "string", "format": "binary"]])
        let isLines = content.members.first?.name == lines.name
        let chosen = isLines ? lines : content.members.first { $0.name == "application/json" }
        guard let chosen else { return member }
        return .init(
            member.name,
            .object(member.value.members.map { $0.name == "content" ? .init("content", .object([chosen])) : $0 }))
    }
}

extension DocumentValue {
    /// Whether a response is that of a write with dryRun=true alone.
    fileprivate var refersToDryRun: Bool { refers(to: "DryRun") }

    /// Returns whether a response has a schema as its body.
    fileprivate func refers(to schema: String) -> Bool {
        self["content"]?["application/json"]?["schema"]?["$ref"]?.text == "#/components/schemas/" + schema
    }
}
