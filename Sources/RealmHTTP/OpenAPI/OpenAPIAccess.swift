// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The part of the API description about credentials: keys, sessions, and the identity of a client.
enum OpenAPIAccess {
    // MARK: - Credentials

    /// The ways in which a request identifies its sender.
    static let securitySchemes: [(String, DocumentValue)] = [
        (
            "bearer",
            [
                "type": "http", "scheme": "bearer",
                "description": "Is an API key of this server, or a token of an issuer that it trusts.",
            ]
        ),
        ("basic", ["type": "http", "scheme": "basic", "description": "Has an API key as the password of the user key."]),
    ]
    /// Which of them a request needs: one of them, or none on a server that has no credentials.
    static let security: DocumentValue = [["bearer": .array([])], ["basic": .array([])], .object([])]

    // MARK: - Schemas

    /// The schema of an array of strings.
    private static let texts = OpenAPIParts.texts
    /// The schema of a text, or null.
    private static let optionalText = OpenAPIParts.nullableText
    /// The schema of a time, or null.
    private static let optionalTime: DocumentValue = ["type": "string", "format": "date-time", "nullable": true]
    /// The schema of the time until a new key expires.
    private static let lifetime = OpenAPIParts.words(pattern: "^[1-9][0-9]{0,3}(ms|s|m|h|d)$", "90d").orNull
        .describing("Is the time until the key expires, with the unit ms, s, m, h or d.")
    /// The schema of the networks that a key is taken from.
    private static let networks: DocumentValue = [
        "type": "array", "description": "Lists the networks from which the key is accepted.",
        "items": OpenAPIParts.words("192.0.2.0/24"), "example": ["192.0.2.0/24"],
    ]
    /// The schema of the claims that represent those of a token.
    private static let claims: DocumentValue = [
        "type": "object", "description": "Holds the claims that rules of access can refer to, by name.",
        "additionalProperties": true, "example": ["team": "shop"],
    ]

    /// The members that every document of a key has.
    private static let members: [DocumentValue.Member] = [
        .init("id", OpenAPIParts.text), .init("name", OpenAPIParts.text), .init("roles", texts), .init("realm", optionalText),
        .init("claims", claims), .init("from", texts), .init("created", OpenAPIParts.text), .init("expires", optionalTime),
        .init("lastUsed", optionalTime),
    ]

    /// The schemas by name, in the order of the document.
    static let schemas: [(String, DocumentValue)] = [
        ("Key", ["type": "object", "properties": .object(members), "required": ["id", "name", "roles"]]),
        (
            "KeyWithSecret",
            ["type": "object", "properties": .object([.init("key", OpenAPIParts.text)] + members), "required": ["key", "id"]]
        ),
        (
            "KeyRequest",
            [
                "type": "object",
                "properties": [
                    "name": OpenAPIParts.words(atMost: 128, "shop"), "roles": OpenAPIParts.list(atMost: 100, least: 1, "read"),
                    "realm": optionalText, "expires": lifetime, "from": networks, "claims": claims,
                ],
                "required": ["name", "roles"], "additionalProperties": false,
                "example": ["name": "shop", "roles": ["read"]],
            ]
        ),
        (
            "KeyPage",
            [
                "type": "object", "required": ["items", "next"],
                "properties": ["items": ["type": "array", "items": OpenAPIParts.schema("Key")], "next": optionalText],
            ]
        ),
        (
            "Session",
            [
                "type": "object", "required": ["csrfToken", "expiresAt"],
                "properties": ["csrfToken": OpenAPIParts.text, "expiresAt": ["type": "string", "format": "date-time"]],
            ]
        ),
        ("Me", me(texts)),
    ]

    /// Returns the schema of who a client is.
    private static func me(_ texts: DocumentValue) -> DocumentValue {
        [
            "type": "object", "required": ["principal", "roles", "may"],
            "properties": [
                "principal": [
                    "type": "object", "required": ["kind"],
                    "properties": [
                        "kind": OpenAPIParts.choice("local", "anonymous", "key", "jwt", "certificate"), "id": optionalText,
                        "name": optionalText,
                    ],
                ],
                "roles": texts, "realm": optionalText, "expiresAt": optionalTime,
                "may": [
                    "type": "object",
                    "description": "Lists the rights of the client by realm and class, for open realms.",
                    "additionalProperties": [
                        "type": "object", "additionalProperties": texts, "example": ["Category": ["read"]],
                    ],
                    "example": ["store": ["Category": ["read"]]],
                ],
                "more": OpenAPIParts.flag.describing(
                    "Is true when may was truncated because there are too many realms or classes."),
            ],
        ]
    }

    /// Returns the responses with one status.
    ///
    /// - Parameters:
    ///   - description: A sentence about it.
    ///   - schema: The name of the schema of the body; nil for none.
    private static func responses(_ status: String, _ description: String, _ schema: String? = nil) -> DocumentValue {
        let content = schema.map { name -> DocumentValue in ["application/json": ["schema": OpenAPIParts.schema(name)]] }
        return .object([
            .init(
                status,
                .members(("description", .string(description)), ("headers", OpenAPIParts.headers), ("content", content)))
        ])
    }

    // MARK: - Operations

    /// `GET /v1/me`.
    static let me = OperationDescription(
        "getMe", "Returns the principal of the client and its rights.", tag: "access", parameters: ["RequestId"],
        responses: responses(
            "200", "The body names the principal, its roles and its rights.", "Me"))

    /// `POST /v1/session`.
    static let beginSession = OperationDescription(
        "beginSession", "Begins a session for a browser with the credential of the request.", tag: "access",
        parameters: ["RequestId"],
        responses: responses(
            "201", "The cookie is in Set-Cookie; requests with it that may change something send the token as X-CSRF-Token.",
            "Session"),
        problems: [.invalidBody])

    /// `DELETE /v1/session`.
    static let endSession = OperationDescription(
        "endSession", "Ends the session of the request, with its streams.", tag: "access", parameters: ["RequestId"],
        responses: responses("204", "The session has ended."), problems: [.invalidBody])

    /// `GET /admin/keys`.
    static let listKeys = OperationDescription(
        "listKeys", "Lists the API keys, without their secrets.", tag: "access", parameters: ["RequestId"],
        responses: responses(
            "200", "The body lists the keys.", "KeyPage"))

    /// `POST /admin/keys`.
    static let makeKey = OperationDescription(
        "makeKey", "Makes an API key. Its secret is in this response only.", tag: "access",
        parameters: ["ConfirmNoAdministrator", "RequestId"],
        taking: .json, body: OpenAPIParts.schema("KeyRequest"),
        responses: responses("201", "The key is in force.", "KeyWithSecret"),
        problems: [.invalidConfiguration, .insufficientStorage])

    /// `DELETE /admin/keys/{id}`.
    static let revokeKey = OperationDescription(
        "revokeKey", "Revokes an API key, and ends its streams.", tag: "access",
        parameters: ["ConfirmNoAdministrator", "RequestId"],
        responses: responses("204", "The key is not valid any more."), problems: [.invalidConfiguration, .insufficientStorage])

    /// `POST /admin/keys/{id}/rotate`.
    static let rotateKey = OperationDescription(
        "rotateKey", "Gives an API key a new secret, and ends the old one at once.", tag: "access", parameters: ["RequestId"],
        responses: responses("200", "The key with its new secret.", "KeyWithSecret"),
        problems: [.invalidBody, .invalidConfiguration, .insufficientStorage])
}
