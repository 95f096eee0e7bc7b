// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The part of the API description about change notifications: operations, parameters and schemas.
///
/// A stream of events can be described as text only. The long-poll at the same path returns the same information as a JSON
/// document, so that document is described in detail, and generated clients use it.
enum OpenAPIChanges {
    /// The OpenAPI schema of a value that is any string.
    private static let text = OpenAPIParts.text
    /// The OpenAPI schema of a boolean.
    private static let flag = OpenAPIParts.flag
    /// The OpenAPI schema of an array of strings.
    private static let texts = OpenAPIParts.texts
    /// Returns the schema of any JSON value with a description.
    private static func anything(_ description: String) -> DocumentValue { OpenAPIParts.anything.describing(description) }

    /// The names of the parameters of a poll of one class.
    static let pollParameters = [
        "Where", "Args", "Sort", "Distinct", "ChangesLimit", "KeyPaths", "Shallow", "Deep", "Fields", "Expand", "Meta", "Include",
        "Since", "Wait", "Initial", "RealmMinVersion", "RealmRead", "RequestId",
    ]

    // MARK: - Operations

    /// The operation `GET …/changes`, which answers with a stream of events or as a long-poll, depending on `Accept`.
    static let changes = OperationDescription(
        "getChanges",
        "Returns the changes of a subscription or of a registration, as a stream of events or in one response that waits for them.",
        tag: "changes",
        parameters: [
            "ChangesClass", "ChangesKey", "ChangesProperty", "Where", "Args", "Sort", "Distinct", "ChangesLimit",
            "SectionBy",
            "Section", "KeyPaths", "Shallow", "Deep", "Fields", "Expand",
            "Meta", "Ints", "Include", "Subscription", "Ticket", "Since",
            "Wait",
            "Initial", "Heartbeat", "DocumentFormat", "LastEventId", "RealmMinVersion", "RealmRead", "RequestId",
        ],
        responses: OpenAPIParts.responses(
            [
                "description": "The body lists the changes, or is a stream of events.", "headers": answerHeaders,
                "content": [
                    "application/json": ["schema": OpenAPIParts.schema("Changes")],
                    "application/ejson": ["schema": OpenAPIParts.schema("ExtendedJSON")],
                    "text/event-stream": ["schema": OpenAPIParts.schema("Events")],
                ],
            ], isConditional: false),
        problems: .ofChanges)

    /// The operation `GET …/changes/{class}`, the same for one class, whose poll has a separate type in the description of a
    /// realm.
    static let changesOfClass = OperationDescription(
        "getChangesOfClass", "Returns the changes of a subscription to objects of one class.", tag: "changes",
        parameters: pollParameters + [
            "ChangesKey", "ChangesProperty", "SectionBy", "Section", "Ints", "Heartbeat", "DocumentFormat", "LastEventId",
        ],
        responses: changes.responses, problems: .ofChanges)

    /// The operation `POST …/subscriptions`, which registers several named subscriptions at once.
    static let register = OperationDescription(
        "createSubscriptions", "Registers named subscriptions, which one stream delivers together.", tag: "changes",
        parameters: ["RealmMinVersion", "RealmRead", "RequestId"],
        taking: .json, body: OpenAPIParts.schema("SubscriptionsBody"),
        responses: answers("201", "The subscriptions are registered and observed.", "RegistrationCreated"), problems: .ofChanges)

    /// The operation `GET …/subscriptions/{id}`, which describes a registration.
    static let registration = OperationDescription(
        "getSubscriptions", "Describes a registration.", tag: "changes",
        parameters: ["RealmMinVersion", "RealmRead", "RequestId"],
        responses: answers("200", "The body describes the registration.", "Registration"),
        problems: .ofChanges)

    /// The operation `DELETE …/subscriptions/{id}`, which ends a registration and the streams that read it.
    static let unregister = OperationDescription(
        "deleteSubscriptions", "Ends a registration, and the streams that read it.", tag: "changes",
        parameters: ["RealmMinVersion", "RealmRead", "RequestId"],
        responses: answers("204", "The registration is deleted.", nil),
        problems: .ofChanges)

    /// The header fields of the responses here. They have no entity tag, because none of these operations is conditional.
    static let answerHeaders: DocumentValue = [
        "X-Request-Id": OpenAPIParts.header("RequestId"), "Realm-Version": OpenAPIParts.header("RealmVersion"),
    ]

    /// Returns the responses of an operation on registrations.
    ///
    /// - Parameters:
    ///   - status: The status of success, such as `201`.
    ///   - description: A sentence about the response to a successful request.
    ///   - schema: The name of the shared schema of its body; nil for a response without a body.
    /// - Returns: An object of responses by status.
    private static func answers(_ status: String, _ description: String, _ schema: String?) -> DocumentValue {
        let body = schema.map { name -> DocumentValue in ["application/json": ["schema": OpenAPIParts.schema(name)]] }
        return .object([
            .init(status, .members(("description", .string(description)), ("headers", answerHeaders), ("content", body)))
        ])
    }

    // MARK: - Parameters

    /// Returns the parameters of subscriptions.
    ///
    /// - Parameter limits: The limits of the server.
    static func parameters(_ limits: Limits) -> [SharedParameter] {
        [
            .query(
                "class", as: "ChangesClass", "Names the class that is observed; without it the whole realm is observed.",
                OpenAPIParts.words("Category")),
            .query("key", as: "ChangesKey", "Names the object that is observed, by its key.", OpenAPIParts.words("1")),
            .query(
                "property", as: "ChangesProperty",
                "Names a collection of that object, an embedded object in it, or linking objects such as @links.Person.dogs.",
                OpenAPIParts.words("@links.Product.category")),
            .query(
                "limit", as: "ChangesLimit", "Observes only this many rows from the start of the result.",
                OpenAPIParts.number(from: 0)),
            .query(
                "keyPaths", "Lists at most \(limits.fields) key paths, separated by commas; changes elsewhere are not reported.",
                ["type": "string", "pattern": "^([^,]+(,[^,]+)*)?$", "example": "name"]),
            .query("shallow", "With the value true changes inside elements are not reported.", flag),
            .query(
                "deep",
                "With the value embedded an object changes when it or an object embedded in it does, and not with those it links to.",
                OpenAPIParts.choice("links", "embedded")),
            .query(
                "include", "Chooses the report of a row: its object, its key, or counts alone.",
                OpenAPIParts.choice("objects", "keys", "none")),
            .query(
                "subscription", "Names a registration by its id, in place of a definition.",
                OpenAPIParts.words("s_cDP77zRiCMm2RklT5crvdC")),
            .query(
                "ticket", "Names a registration by its ticket, in place of its id.",
                OpenAPIParts.words("-IWPmBhuZfCeNnonEjqsgB")),
            .query(
                "since", "Names the position to continue from; the value now begins at the newest version.",
                ["type": "string", "example": "now"]),
            .query(
                "wait", "Limits the time that the response waits for a change, in seconds.",
                OpenAPIParts.number(from: 0, to: ChangeRequest.longestWait)),
            .query("initial", "With the value false the state at the beginning is not reported.", flag),
            .query(
                "hb", as: "Heartbeat", "With the value event heartbeats are sent as events.",
                OpenAPIParts.choice("comment", "event")),
            .header(
                "Last-Event-ID", as: "LastEventId",
                "Names the last event that the client has received; the stream continues after it.",
                ["type": "string", "example": "k3f9q2.1841"]),
        ]
    }

    /// The header field that excludes registrations from the notifications of a write. Operations that change objects take it.
    static let writeParameters: [SharedParameter] = [
        .header(
            "Realm-Without-Notifying",
            "Lists registrations, separated by commas and each optionally with /name, that are not notified of this write.",
            ["type": "string", "example": ""])
    ]
}
