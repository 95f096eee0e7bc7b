// SPDX-License-Identifier: Apache-2.0

/// What the API description states about one method at a path.
///
/// A `RouteOperation` has one of these beside the function that answers it. The path, its variables
/// and the method are not repeated here: they come from the route, so that the document and the
/// router cannot disagree.
struct OperationDescription: Sendable {
    /// The `operationId`, which generators use as the name of a function. It is unique in a
    /// document.
    let id: String
    /// One sentence about the operation, for people who read the document.
    let summary: String
    /// The group under which documentation shows the operation, such as `objects`; in the document
    /// of a realm the name of a class.
    let tag: String
    /// The names of the shared parameters besides those of the path variables, in the order of the
    /// document.
    let parameters: [String]
    /// The description of the request body; nil when the operation takes none.
    let body: DocumentValue?
    /// The possible responses, as an object of descriptions by status.
    let responses: DocumentValue

    /// Creates the description of an operation.
    ///
    /// - Parameters:
    ///   - id: The `operationId`, unique in a document.
    ///   - summary: One sentence for people.
    ///   - tag: The group under which the operation is shown.
    ///   - parameters: The names of shared parameters besides those of path variables.
    ///   - body: The request body; nil when the operation takes none.
    ///   - responses: The responses by status, as an object.
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

    /// Returns the operation object for the document.
    ///
    /// - Parameter variables: The variables of the path, whose parameters come first.
    /// - Returns: An OpenAPI operation object; members without a value are left out.
    func document(variables: [PathVariable]) -> DocumentValue {
        let names = variables.map { OpenAPIParts.parameterName(of: $0) } + parameters
        return .members(
            ("operationId", .string(id)), ("summary", .string(summary)), ("tags", [.string(tag)]),
            ("parameters", names.isEmpty ? nil : .array(names.map(OpenAPIParts.parameter))), ("requestBody", body),
            ("responses", responses))
    }
}
