// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Glibc
internal import RealmPlatform

/// A connection to a server: the bridge to libpq.
///
/// Requests are sent without blocking, and poll(2) waits for replies until a deadline of ours. Nothing is ever cancelled: at the
/// deadline the connection is abandoned, and the server continues with what it has. After any error the connection is of no use.
///
/// Names of hosts are looked up by the system, which may take longer than a deadline; addresses and sockets are not.
///
/// `@unchecked Sendable`: one thread at a time uses it.
@safe final class PostgresConnection: @unchecked Sendable {
    /// The connection of the library, owned by this object.
    private let connection: OpaquePointer
    /// Records warnings of the server.
    private let warnings = Warnings()
    /// The statements that were prepared here.
    private var prepared: Set<PostgresStatement> = []
    /// The number of buffered bytes after which values are sent.
    private static let pieceByteCount = 1 << 16
    /// Whether something has failed here.
    private(set) var isBroken = false

    /// Whether the server has warned of what was run last. It does so when a wait for standbys was cancelled, and then says
    /// nevertheless that the commit has succeeded.
    var hasWarned: Bool { warnings.count > 0 }

    /// Counts warnings. One thread uses it, that of the connection.
    private final class Warnings {
        /// The number of warnings.
        var count = 0
    }

    /// Connects to the first of the servers of an address that takes the connection.
    ///
    /// - Parameters:
    ///   - address: As libpq takes it: a URL or `name=value` pairs. Missing values come from the environment.
    ///   - deadline: The time of the timeout. Each server has its share, so a silent one leaves some to the next.
    /// - Throws: `.unsent` when there is no connection.
    static func connect(to address: String, until deadline: Instant) throws(PostgresFailure) -> PostgresConnection {
        let servers = servers(of: address)
        var failure = PostgresFailure.unsent("the address has no server")
        for (index, server) in servers.enumerated() {
            let now = Instant.now()
            let share =
                deadline.isDistantFuture
                ? deadline : now.adding(seconds: deadline.seconds(since: now) / Double(servers.count - index))
            do throws(PostgresFailure) {
                return try PostgresConnection(to: address, server, until: share)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - address: As libpq takes it: a URL or `name=value` pairs. Missing values come from the environment.
    ///   - server: Values that replace those of the same names in the address.
    ///   - deadline: The time of the timeout.
    /// - Throws: `.unsent` when there is no connection.
    init(
        to address: String, _ server: [(name: String, value: String)] = [], until deadline: Instant
    ) throws(PostgresFailure) {
        let names = ["application_name", "connect_timeout", "client_encoding", "dbname"] + server.map(\.name)
        // The address overrides the values before it.
        let values = ["realm-rest", "10", "UTF8", address] + server.map(\.value)
        let made = unsafe PostgresConnection.withTexts(names) { names in
            unsafe PostgresConnection.withTexts(values) { values in unsafe PQconnectStartParams(names, values, 1) }
        }
        guard let made = unsafe made else { throw .unsent("there is no memory for a connection") }
        unsafe connection = unsafe made
        unsafe _ = PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context = unsafe context, let field = unsafe PQresultErrorField(result, Int32(realm_rest_pq_severity)),
                    unsafe String(cString: field) == "WARNING"
                else { return }
                unsafe Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().count += 1
            }, Unmanaged.passUnretained(warnings).toOpaque())
        try connect(until: deadline)
    }

    deinit { unsafe PQfinish(connection) }

    /// Returns what makes an address with several servers one of each of them; nothing once for an address with one.
    private static func servers(of address: String) -> [[(name: String, value: String)]] {
        var lists: [ByteText: [Substring]] = [:]
        if let options = unsafe PQconninfoParse(address, nil) {
            defer { unsafe PQconninfoFree(options) }
            var option = unsafe options
            while let keyword = unsafe option.pointee.keyword {
                if let value = unsafe option.pointee.val {
                    lists[unsafe String(cString: keyword)] = unsafe String(cString: value).split(
                        separator: ",", omittingEmptySubsequences: false)
                }
                unsafe option += 1
            }
        }
        let count = max(lists["host"]?.count ?? 0, lists["hostaddr"]?.count ?? 0)
        guard count > 1 else { return [[]] }
        return (0..<count).map { index in
            ["host", "hostaddr", "port"].compactMap { name in
                guard let list = lists[name] else { return nil }
                // One port applies to all servers.
                return list.indices.contains(index)
                    ? (name, String(list[index])) : list.count == 1 ? (name, String(list[0])) : nil
            }
        }
    }

    /// Finishes connecting.
    private func connect(until deadline: Instant) throws(PostgresFailure) {
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED, unsafe PQstatus(connection) != CONNECTION_BAD else {
                throw .unsent(message)
            }
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(for: events, until: deadline) else { throw .unsent("the server does not answer") }
            state = unsafe PQconnectPoll(connection)
        }
        guard unsafe PQsetnonblocking(connection, 1) == 0, unsafe PQenterPipelineMode(connection) == 1 else {
            throw .unsent(message)
        }
    }

    /// The message of the library for the last failure, in one line.
    private var message: String {
        let text = unsafe String(cString: PQerrorMessage(connection))
        return text.split(separator: "\n").first.map(String.init) ?? "the connection failed"
    }

    /// Waits until the connection can be read or written; false at the deadline.
    private func wait(for events: Int32, until deadline: Instant) -> Bool {
        var entry = pollfd(fd: unsafe PQsocket(connection), events: Int16(events), revents: 0)
        guard entry.fd >= 0 else { return false }
        while true {
            let rest = deadline.isDistantFuture ? 60 : min(deadline.seconds(since: .now()), 60)
            guard rest > 0 else { return false }
            let count = unsafe poll(&entry, 1, Int32(rest * 1000) + 1)
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }

    // MARK: - Statements

    /// Sends statements in one go, and waits for the answers to all of them.
    ///
    /// - Parameters:
    ///   - steps: The statements. `.begin` and `.commit` enclose a transaction.
    ///   - deadline: The time of the timeout.
    /// - Returns: The answers, in order.
    /// - Throws: `PostgresFailure`; the outcome of statements between `.begin` and `.commit` is then unknown, unless it is
    ///   `.refused`.
    func run(_ steps: [PostgresStep], until deadline: Instant) throws(PostgresFailure) -> [PostgresAnswer] {
        guard !isBroken else { throw .unsent("the connection was aborted") }
        warnings.count = 0
        var isPrepare: [Bool] = []
        var unsent = 0
        do throws(PostgresFailure) {
            for step in steps {
                if prepared.insert(step.statement).inserted {
                    try require(unsafe PQsendPrepare(connection, step.statement.rawValue, step.statement.sql, 0, nil))
                    isPrepare.append(true)
                }
                // Small requests go out in one piece at the end.
                unsent += try send(step)
                isPrepare.append(false)
                guard unsent > PostgresConnection.pieceByteCount else { continue }
                try flush(until: deadline)
                unsent = 0
            }
            try require(unsafe PQpipelineSync(connection))
            try flush(until: deadline)
            let answers = try receive(until: deadline)
            guard answers.count == isPrepare.count else { throw .lost("the server has answered something else") }
            return zip(isPrepare, answers).compactMap { $0 ? nil : $1 }
        } catch {
            isBroken = true
            throw error
        }
    }

    /// Gives the connection up, because what it has done is in doubt.
    func abort() { isBroken = true }

    /// Runs statements without parameters as one transaction.
    func runScript(_ statements: [String], until deadline: Instant) throws(PostgresFailure) {
        _ = try runTexts(["begin"] + statements + ["commit"], until: deadline)
    }

    /// Runs statements without parameters in one go.
    ///
    /// - Returns: Their answers.
    func runTexts(_ statements: [String], until deadline: Instant) throws(PostgresFailure) -> [PostgresAnswer] {
        do throws(PostgresFailure) {
            for statement in statements {
                try require(unsafe PQsendQueryParams(connection, statement, 0, nil, nil, nil, nil, 1))
            }
            try require(unsafe PQpipelineSync(connection))
            try flush(until: deadline)
            return try receive(until: deadline)
        } catch {
            isBroken = true
            throw error
        }
    }

    /// Throws when the library has refused to send something.
    private func require(_ result: Int32) throws(PostgresFailure) {
        guard result == 1 else { throw .lost(message) }
    }

    /// Puts one statement where it waits to be sent.
    ///
    /// - Returns: The number of bytes of its values.
    private func send(_ step: PostgresStep) throws(PostgresFailure) -> Int {
        var bytes: [UInt8] = []
        var places: [(start: Int, count: Int)] = []
        for value in step.values {
            let sent = value.sent
            places.append((bytes.count, sent.count))
            bytes += sent
        }
        // A value without bytes still needs an address, because none means null.
        bytes.append(0)
        let lengths = places.map { Int32(clamping: $0.count) }
        let formats = [Int32](repeating: 1, count: places.count)
        let result = unsafe bytes.withUnsafeBytes { room -> Int32 in
            // The places were counted while the bytes were put there; the library copies them.
            let values = unsafe places.map { place in
                unsafe room.baseAddress.map { unsafe ($0 + place.start).assumingMemoryBound(to: CChar.self) }
            }
            return unsafe PQsendQueryPrepared(
                connection, step.statement.rawValue, Int32(places.count), values, lengths, formats, 1)
        }
        try require(result)
        return bytes.count
    }

    /// Passes buffered bytes to the system, and reads replies meanwhile: the server would block if they were not read.
    private func flush(until deadline: Instant) throws(PostgresFailure) {
        while true {
            let rest = unsafe PQflush(connection)
            guard rest >= 0 else { throw .lost(message) }
            guard rest > 0 else { return }
            guard wait(for: POLLIN | POLLOUT, until: deadline) else { throw .lost("the server does not take what is sent") }
            guard unsafe PQconsumeInput(connection) == 1 else { throw .lost(message) }
        }
    }

    /// Receives all answers up to the end of what was sent in one go.
    private func receive(until deadline: Instant) throws(PostgresFailure) -> [PostgresAnswer] {
        var answers: [PostgresAnswer] = []
        var refusal: PostgresFailure?
        var emptyCount = 0
        while true {
            try awaitAnswer(until: deadline)
            guard let result = unsafe PQgetResult(connection) else {
                // Each answer is followed by nothing; nothing twice means that no more will come.
                emptyCount += 1
                guard emptyCount < 2 else { throw .lost(message) }
                continue
            }
            emptyCount = 0
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: unsafe answers.append(PostgresConnection.answer(result))
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_PIPELINE_SYNC:
                if let refusal { throw refusal }
                return answers
            default: refusal = unsafe refusal ?? failure(result)
            }
            guard unsafe PQstatus(connection) == CONNECTION_OK else { throw refusal ?? .lost(message) }
        }
    }

    /// Waits until the next answer can be taken.
    private func awaitAnswer(until deadline: Instant) throws(PostgresFailure) {
        while unsafe PQisBusy(connection) == 1 {
            guard wait(for: POLLIN, until: deadline) else { throw .lost("the server has not answered in time") }
            guard unsafe PQconsumeInput(connection) == 1 else { throw .lost(message) }
        }
    }

    /// Returns why a statement failed. Without a code it was not the server that says so. A server that is shut down says nothing
    /// about what it has done before.
    private func failure(_ result: OpaquePointer) -> PostgresFailure {
        func field(_ code: UInt32) -> String? {
            unsafe PQresultErrorField(result, Int32(code)).map { text in unsafe String(cString: text) }
        }
        guard let state = field(UInt32(realm_rest_pq_state)), !state.hasPrefix("57P"), !state.hasPrefix("08") else {
            return .lost(message)
        }
        return .refused(state: state, field(UInt32(realm_rest_pq_message)) ?? "the server has refused a statement")
    }

    /// Copies an answer out of the library.
    private static func answer(_ result: OpaquePointer) -> PostgresAnswer {
        var rows: [PostgresRow] = []
        let columnCount = unsafe PQnfields(result)
        for row in unsafe 0..<PQntuples(result) {
            let columns = (0..<columnCount).map { column -> [UInt8] in
                guard let value = unsafe PQgetvalue(result, row, column) else { return [] }
                let count = unsafe Int(PQgetlength(result, row, column))
                return unsafe Array(UnsafeRawBufferPointer(start: value, count: count))
            }
            rows.append(PostgresRow(columns: columns))
        }
        return PostgresAnswer(tag: unsafe String(cString: PQcmdStatus(result)), rows: rows)
    }

    /// Calls a function with texts as C knows them, and an address of none after the last.
    private static func withTexts<Result>(
        _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        let bytes = texts.map { Array($0.utf8CString) }
        let joined = bytes.flatMap { $0 }
        return unsafe joined.withUnsafeBufferPointer { room in
            var start = 0
            var addresses = unsafe [UnsafePointer<CChar>?]()
            for text in bytes {
                unsafe addresses.append(room.baseAddress.map { unsafe $0 + start })
                start += text.count
            }
            unsafe addresses.append(nil)
            return unsafe body(addresses)
        }
    }
}
