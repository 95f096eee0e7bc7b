/// One block of a stream. A block without data, such as a heartbeat with the position, has no name.
struct ServerEvent: Equatable {
    let name: String
    let data: [UInt8]
    let id: String?
}

/// Reads server-sent events by the rules of the HTML standard, from pieces of any size.
struct EventParser {
    /// More than any event of the server has.
    var maximum = 256 << 20
    private(set) var retryMilliseconds: Int?
    private var line: [UInt8] = []
    private var afterReturn = false
    private var isFirstLine = true
    private var name = ""
    private var data: [UInt8]?
    private var id: String?

    init() {}

    /// The events that this piece completes.
    mutating func feed(_ piece: some Collection<UInt8>) throws(ConnectionLost) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in piece {
            if afterReturn {
                afterReturn = false
                if byte == 0x0A { continue }
            }
            switch byte {
            case 0x0A, 0x0D:
                afterReturn = byte == 0x0D
                if let event = endLine() { events.append(event) }
            default:
                line.append(byte)
            }
        }
        guard line.count + (data?.count ?? 0) <= maximum else { throw ConnectionLost("an event that is too long") }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        defer { line.removeAll(keepingCapacity: line.count < 65_536) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        take(field: String(decoding: line[..<colon], as: UTF8.self), value)
        return nil
    }

    private mutating func take(field: String, _ value: ArraySlice<UInt8>) {
        switch field {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if data == nil { data = Array(value) } else { data?.append(0x0A); data?.append(contentsOf: value) }
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if value.allSatisfy({ (0x30...0x39).contains($0) }) {
                retryMilliseconds = Int(String(decoding: value, as: UTF8.self))
            }
        default: break
        }
    }

    private mutating func dispatch() -> ServerEvent? {
        defer { (name, data, id) = ("", nil, nil) }
        if let data { return ServerEvent(name: name.isEmpty ? "message" : name, data: data, id: id) }
        return id.map { ServerEvent(name: "", data: [], id: $0) }
    }
}
