// SPDX-License-Identifier: Apache-2.0

/// What the API description says about credentials: keys, sessions, and who a client is.
enum OpenAPIAccess {
    // MARK: - Schemas

    /// The schema of an array of strings.
    private static let texts: DocumentValue = ["type": "array", "items": OpenAPIParts.text]
    /// The schema of a text, or null.
    private static let optionalText: DocumentValue = ["type": ["string", "null"]]

    /// The members that every document of a key has.
    private static let members: [DocumentValue.Member] = [
        .init("id", OpenAPIParts.text), .init("name", OpenAPIParts.text), .init("roles", texts), .init("realm", optionalText),
        .init("claims", ["type": "object"]), .init("from", texts), .init("created", OpenAPIParts.text),
        .init("expires", optionalText), .init("lastUsed", optionalText),
    ]

    /// The schema of a key without its secret.
    private static let key: DocumentValue = ["type": "object", "properties": .object(members)]
    /// The schema of a key with its secret.
    private static let keyWithSecret: DocumentValue = [
        "type": "object", "properties": .object([.init("key", OpenAPIParts.text)] + members), "required": ["key", "id"],
    ]

    /// The schema of a request for a key.
    private static let newKey: DocumentValue = [
        "type": "object",
        "properties": [
            "name": OpenAPIParts.text, "roles": texts, "realm": optionalText, "expires": optionalText, "from": texts,
            "claims": ["type": "object"],
        ],
        "required": ["name", "roles"],
    ]

    /// Returns the responses with one status.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - description: A sentence about it.
    ///   - schema: The schema of the body; nil for none.
    private static func responses(_ status: String, _ description: String, _ schema: DocumentValue? = nil) -> DocumentValue {
        let content = schema.map { schema -> DocumentValue in ["application/json": ["schema": schema]] }
        return .object([.init(status, .members(("description", .string(description)), ("content", content)))])
    }

    // MARK: - Operations

    /// `GET /v1/me`.
    static let me = OperationDescription(
        "getMe", "Tells who the client is, and what it may do.", tag: "access", parameters: ["RequestId"],
        responses: responses(
            "200", "The body names the principal, its roles and what it may do.",
            [
                "type": "object",
                "properties": [
                    "principal": [
                        "type": "object",
                        "properties": [
                            "kind": OpenAPIParts.choice("local", "anonymous", "key", "jwt", "certificate"), "id": optionalText,
                            "name": optionalText,
                        ],
                    ],
                    "roles": texts, "realm": optionalText, "expiresAt": optionalText,
                    "may": [
                        "type": "object",
                        "description": "Lists by realm and class what the client may do, for the realms that are open.",
                        "additionalProperties": ["type": "object", "additionalProperties": texts],
                    ],
                    "more": [
                        "type": "boolean", "description": "Is true when may lacks realms or classes, as there are too many.",
                    ],
                ],
            ]))

    /// `POST /v1/session`.
    static let beginSession = OperationDescription(
        "beginSession", "Begins a session for a browser with the credential of the request.", tag: "access",
        parameters: ["RequestId"],
        responses: responses(
            "201", "The cookie is in Set-Cookie; requests with it that may change something send the token as X-CSRF-Token.",
            ["type": "object", "properties": ["csrfToken": OpenAPIParts.text, "expiresAt": OpenAPIParts.text]]),
        problems: [.invalidBody])

    /// `DELETE /v1/session`.
    static let endSession = OperationDescription(
        "endSession", "Ends the session of the request, with its streams.", tag: "access", parameters: ["RequestId"],
        responses: responses("204", "The session has ended."), problems: [.invalidBody])

    /// `GET /admin/keys`.
    static let listKeys = OperationDescription(
        "listKeys", "Lists the API keys, without their secrets.", tag: "access", parameters: ["RequestId"],
        responses: responses(
            "200", "The body lists the keys.",
            ["type": "object", "properties": ["items": ["type": "array", "items": key], "next": optionalText]]))

    /// `POST /admin/keys`.
    static let makeKey = OperationDescription(
        "makeKey", "Makes an API key. Its secret is in this response only.", tag: "access", parameters: ["RequestId"],
        taking: .json, body: newKey, responses: responses("201", "The key is in force.", keyWithSecret),
        problems: [.invalidConfiguration, .insufficientStorage])

    /// `DELETE /admin/keys/{id}`.
    static let revokeKey = OperationDescription(
        "revokeKey", "Revokes an API key, and ends its streams.", tag: "access", parameters: ["RequestId"],
        responses: responses("204", "The key is not valid any more."), problems: [.invalidConfiguration, .insufficientStorage])

    /// `POST /admin/keys/{id}/rotate`.
    static let rotateKey = OperationDescription(
        "rotateKey", "Gives an API key a new secret, and ends the old one at once.", tag: "access", parameters: ["RequestId"],
        responses: responses("200", "The key with its new secret.", keyWithSecret),
        problems: [.invalidBody, .invalidConfiguration, .insufficientStorage])
}
