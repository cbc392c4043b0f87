import CoreDataJSON
import Foundation

/// The changes of one save, as the service takes them: `{"changes": […]}`.
struct ChangeList: Sendable, Equatable {
    var changes: [Change]

    enum Verb: String, Sendable {
        case create, update, delete
    }

    struct Change: Sendable, Equatable {
        var verb: Verb
        var entity: String
        var id: UUID
        var values: [JSONValue.Member] = []
        /// The version that the object must have: the service's, or the key of a queued change before, see
        /// ``QueuedTag``.
        var condition: String?

        fileprivate var json: JSONValue {
            .members([
                (verb.rawValue, .string(entity)),
                ("id", verb == .create ? nil : .string(id.uuidString)),
                (
                    "values",
                    verb == .delete
                        ? nil
                        : .object((verb == .create ? [.init("_id", .string(id.uuidString))] : []) + values)
                ),
                ("if", condition.map { .string($0) }),
            ])
        }
    }

    /// The number of changes that the service takes in one request.
    static let maximumCount = 500

    init(_ changes: [Change]) { self.changes = changes }

    var body: Data { Data(JSONWriter.bytes(.object([.init("changes", .array(changes.map(\.json)))]))) }

    /// Reads what ``body`` wrote.
    init?(body: Data) {
        var limits = JSONParser.Limits()
        limits.values = 2_000_000
        guard let json = try? JSONParser.parse([UInt8](body), limits: limits), let list = json["changes"]?.array else {
            return nil
        }
        changes = list.compactMap { json in
            for verb in [Verb.create, .update, .delete] {
                guard let entity = json[verb.rawValue]?.string else { continue }
                var values: [JSONValue.Member] = []
                if case .object(let members)? = json["values"] { values = members }
                let text = verb == .create ? values.first { $0.name == "_id" }?.value.string : json["id"]?.string
                guard let id = text.flatMap(UUID.init(uuidString:)) else { return nil }
                return Change(
                    verb: verb, entity: entity, id: id, values: values.filter { $0.name != "_id" },
                    condition: json["if"]?.string)
            }
            return nil
        }
        if changes.count != list.count { return nil }
    }
}

/// The version of an object that has queued changes: the key of the last one.
enum QueuedTag {
    private static let prefix = "queued:"

    static func tag(of key: UUID) -> String { prefix + key.uuidString }
    /// The version of the row that a context saved, which lacks values that the service computed.
    static func saved(_ tag: String) -> String { "saved:" + tag }
    static func isQueued(_ tag: String) -> Bool { tag.hasPrefix(prefix) }
}
