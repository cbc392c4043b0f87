import CoreData
import CoreDataJSON
import Foundation

/// An `Idempotency-Key`: the note of a change that was done, so that a retry gets the answer and changes nothing.
///
/// The note is written in the transaction of the change. It has a fingerprint of the request and the IDs of the objects;
/// the retry gets the same status and IDs, and the objects as they are then.
package struct RequestKey: Sendable {
    /// The key of the note: the account's and the client's, so that accounts do not share keys.
    package let note: String
    private let fingerprint: String

    /// How long a retry is recognised.
    package static let lifetime: TimeInterval = 24 * 60 * 60

    package init(_ key: String, caller: String, method: String, path: String, body: [UInt8]) throws(Problem) {
        // A string of RFC 9651 has quotes.
        let isQuoted = key.utf8.count > 2 && key.hasPrefix("\"") && key.hasSuffix("\"")
        guard let id = UUID(uuidString: isQuoted ? String(key.dropFirst().dropLast()) : key) else {
            throw Problem(
                400, "idempotency-key", "The Idempotency-Key cannot be used",
                "It is a UUID, a new one for each request and the same one for its retries.")
        }
        note = "\(caller) \(id.uuidString)"
        var first = Fingerprint()
        for part in [Array(method.utf8), Array(path.utf8), body] { first.add(part) }
        fingerprint = first.text
    }

    /// The ID of a new object, the same in every retry: also a retry whose first attempt is still running makes no
    /// second object.
    package func newID(_ index: Int) -> UUID {
        var hash = Fingerprint()
        hash.add(Array(note.utf8))
        hash.add(Array("\(index) \(fingerprint)".utf8))
        return hash.uuid
    }

    // MARK: Notes

    package func makeNote(_ changes: [Change]) -> TransactionNote {
        let results: [JSONValue] = changes.map { change in
            let status =
                switch change.kind {
                case .create: 201
                case .delete: 204
                case .update, .bytes: 200
                }
            return .array([.integer(status), .string(change.entity.name), .string(change.id.uuidString)])
        }
        let content: JSONValue = .object([.init("request", .string(fingerprint)), .init("results", .array(results))])
        return TransactionNote(key: note, content: Data(JSONWriter.bytes(content)))
    }

    /// Returns the results of the first attempt.
    ///
    /// - Throws: a problem if the key was used for another request.
    package func results(_ note: TransactionNote) throws(Problem) -> [ChangeResult] {
        guard let json = try? JSONParser.parse([UInt8](note.content)), let list = json["results"]?.array else {
            throw Problem(
                409, "idempotency-key", "The Idempotency-Key cannot be used",
                "Its note cannot be read: use another key.")
        }
        guard json["request"]?.string == fingerprint else {
            throw Problem(
                422, "idempotency-key", "The Idempotency-Key was used for another request",
                "Use a new key for each request, and the same one for a retry only.")
        }
        return list.compactMap { result in
            guard let parts = result.array, parts.count == 3, case .number(let status) = parts[0],
                let entity = parts[1].string, let id = parts[2].string.flatMap(UUID.init(uuidString:))
            else { return nil }
            return ChangeResult(status: Int(status) ?? 200, entity: entity, id: id)
        }
    }
}

/// 128 bits of a request, to recognise the same request: not a protection against forgery, which the account's own keys
/// do not need.
private struct Fingerprint {
    private var a: UInt64 = 0xCBF2_9CE4_8422_2325
    private var b: UInt64 = 0x6C62_272E_07BB_0142

    mutating func add(_ bytes: [UInt8]) {
        for byte in bytes {
            a = (a ^ UInt64(byte)) &* 0x100_0000_01B3
            b = (b ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
            b ^= b >> 29
        }
        a = (a ^ UInt64(bytes.count)) &* 0x100_0000_01B3
        b = (b ^ UInt64(bytes.count) ^ 0xFF) &* 0x9E37_79B9_7F4A_7C15
        b ^= b >> 32
    }

    var text: String { String(a, radix: 16) + "-" + String(b, radix: 16) }

    var uuid: UUID {
        func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: (index < 8 ? a : b) >> UInt64(index % 8 * 8)) }
        return UUID(
            uuid: (
                byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) & 0x0F | 0x80, byte(7),
                byte(8) & 0x3F | 0x80, byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
            ))
    }
}
