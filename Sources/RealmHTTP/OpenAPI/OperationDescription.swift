// SPDX-License-Identifier: Apache-2.0

/// What the API description says of one method at a path.
///
/// The path, its variables and the method are not in here: they come from the route.
struct OperationDescription: Sendable {
    /// The name that generators make a function of; unique in a document.
    let id: String
    /// One sentence for people.
    let summary: String
    /// The group that the operation is shown in.
    let tag: String
    /// Names of shared parameters beside those of the path, in their order.
    let parameters: [String]
    /// What the request has to bring; nil for nothing.
    let body: DocumentValue?
    /// Responses by status.
    let responses: DocumentValue

    /// A description made of its parts.
    init(
        _ id: String, _ summary: String, tag: String, parameters: [String] = [], body: DocumentValue? = nil,
        responses: DocumentValue
    ) {
        self.id = id
        self.summary = summary
        self.tag = tag
        self.parameters = parameters
        self.body = body
        self.responses = responses
    }

    /// The operation as the document has it, for a path with these variables.
    func document(variables: [PathVariable]) -> DocumentValue {
        let names = variables.map { OpenAPIParts.parameterName(of: $0) } + parameters
        return .members(
            ("operationId", .string(id)), ("summary", .string(summary)), ("tags", [.string(tag)]),
            ("parameters", names.isEmpty ? nil : .array(names.map(OpenAPIParts.parameter))), ("requestBody", body),
            ("responses", responses))
    }
}
