/// A problem document of the server (RFC 9457).
public struct Problem: Error, Sendable, CustomStringConvertible {
    public let status: Int
    public let body: JSON
    /// Seconds after which the server wants to be asked again.
    public let retryAfter: Double?

    public var code: String { body["code"]?.text ?? "unknown" }
    public var detail: String { body["detail"]?.text ?? body["title"]?.text ?? "" }
    public var pointer: String? { body["pointer"]?.text }

    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
        if case .bool(let value)? = body["retryable"] { value } else { [423, 429, 503].contains(status) }
    }

    /// After a failed condition: the object as it is now.
    public func current<Value: Decodable & Sendable>(_ type: Value.Type) throws -> Stored<Value>? {
        guard let current = body["current"], !current.isNull else { return nil }
        return try Stored(json: current)
    }

    public var description: String { "\(status) \(code): \(detail)" }
}

/// No complete answer came. Whether a write took place is not known.
public struct ConnectionLost: Error, Sendable, CustomStringConvertible {
    public let description: String

    /// No answer came in time, although there was a connection.
    let isTimeout: Bool

    public init(_ description: String) {
        self.description = description
        isTimeout = false
    }

    init(timeout description: String) {
        self.description = description
        isTimeout = true
    }
}

/// What is live cannot go on: its registration, realm or object is gone for good, or it is not allowed any more.
public struct LiveEnded: Error, Sendable, CustomStringConvertible {
    public let reason: String
    public let problem: Problem?

    public var description: String { problem.map { "\(reason): \($0)" } ?? reason }
}

/// A change set that does not fit what is known: something was missed, so everything is read anew.
struct Diverged: Error {
    let description: String
}
