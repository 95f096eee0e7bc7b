/// How what is live is kept current.
public struct LiveOptions: Sendable {
    public enum Transport: Sendable {
        /// Streams, and polls where streams do not come through.
        case automatic
        case stream
        case poll
    }

    public var transport = Transport.automatic
    /// The longest silence of a stream in seconds: above twice the heartbeat of the server, which is 15 s.
    public var silence = 40.0
    /// How long a poll waits at the server, at most 55 seconds.
    public var pollWait = 25
    /// How many changes wait for the reader of a feed before they are joined.
    public var queue = 256
    /// The longest pause in seconds before the server is sought again; pauses begin with a fraction of a second and grow.
    public var longestPause = 30.0
    /// For how long new subscriptions are collected before they are registered together, in seconds.
    public var gather = 0.005
    /// With more streams than this, subscriptions are moved together. The server allows a client twenty.
    public var streams = 4
    /// After how many seconds of polling, for want of a working stream, a stream is tried again.
    public var retryStream = 300.0

    public init() {}
}
