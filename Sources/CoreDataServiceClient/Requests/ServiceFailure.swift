import CoreDataJSON
import CoreDataRemote
import Foundation

/// A request that a service refused, that did not reach it, or whose answer cannot be read.
struct ServiceFailure: Error, Sendable {
    /// One of several mistakes in a request.
    struct Part: Sendable {
        var pointer: String?
        var entity: String?
        var property: String?
        /// Core Data's code.
        var code: Int?
        var detail: String
    }

    /// The HTTP status; 0 if there was no answer.
    var status: Int
    /// The last part of the problem's `type`; `connection`, `timeout`, `certificate` or `answer` for failures of the
    /// transfer.
    var type: String
    var message: String
    var entity: String?
    var property: String?
    var code: Int?
    var parts: [Part] = []

    /// Whether the service was not reached, or could not work at the time: the same request may succeed later.
    var isConnection: Bool {
        switch status {
        case 0: ["connection", "timeout", "host", "incomplete"].contains(type)
        case 408, 425, 429, 502, 503, 504: true
        default: false
        }
    }

    static func answer(_ detail: String) -> ServiceFailure {
        ServiceFailure(
            status: 0, type: "answer",
            message:
                "The service's answer cannot be read: \(detail). See to the address, and to the model: both sides must have the same."
        )
    }

    init(
        status: Int, type: String, message: String, entity: String? = nil, property: String? = nil, code: Int? = nil
    ) {
        self.status = status
        self.type = type
        self.message = message
        self.entity = entity
        self.property = property
        self.code = code
    }

    init(_ failure: RemoteFailure) {
        let type =
            switch failure.kind {
            case .address: "address"
            case .host: "host"
            case .certificate: "certificate"
            case .connection: "connection"
            case .timeout: "timeout"
            case .tooLarge, .answer: "answer"
            case .incomplete: "incomplete"
            }
        self.init(status: 0, type: type, message: failure.message)
    }

    /// Reads a problem of RFC 9457.
    init(_ answer: RemoteConnection.Answer, _ place: String) {
        let isProblem = answer.headers["content-type"]?.hasPrefix("application/problem+json") == true
        guard isProblem, let json = try? JSONParser.parse([UInt8](answer.body)), let title = json["title"]?.string
        else {
            self.init(
                status: answer.status, type: "http", message: "\(place) answers \(answer.status). See to the address.")
            return
        }
        let detail = json["detail"]?.string.map { ". \($0)" } ?? ""
        self.init(
            status: answer.status,
            type: json["type"]?.string?.split(separator: ":").last.map(String.init) ?? "http",
            message: title + detail, entity: json["entity"]?.string, property: json["property"]?.string,
            code: json["code"]?.integer)
        parts = (json["errors"]?.array ?? []).map { part in
            Part(
                pointer: part["pointer"]?.string, entity: part["entity"]?.string, property: part["property"]?.string,
                code: part["code"]?.integer, detail: part["detail"]?.string ?? title)
        }
    }
}

extension JSONValue {
    var integer: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits)
    }
}
