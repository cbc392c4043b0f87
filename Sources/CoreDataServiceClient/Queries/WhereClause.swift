/// A predicate as the service reads it: a text, and the values of its arguments.
struct WhereClause: Sendable, Equatable {
    var text: String
    var arguments: [Argument] = []

    struct Argument: Sendable, Equatable {
        let name: String
        let values: [String]
    }

    /// The limits of the service.
    static let maximumLength = 4096
    static let maximumArguments = 150
    static let maximumArgumentLength = 12 * 1024

    /// Whether the service accepts a predicate of that size.
    var fits: Bool {
        let values = arguments.flatMap(\.values)
        return text.utf8.count <= Self.maximumLength && values.count <= Self.maximumArguments
            && values.reduce(0) { $0 + $1.utf8.count * 3 + 16 } <= Self.maximumArgumentLength
    }

    var parameters: ServiceClient.Parameters {
        [("where", text)]
            + arguments.flatMap { argument in
                // A list of one value is sent twice: a single value would not be a list.
                argument.values.map { ("arg.\(argument.name)", $0) }
            }
    }

    /// The objects with these IDs.
    static func ids(_ ids: [UUID]) -> WhereClause {
        WhereClause(text: "_id IN $v1", arguments: [.init(name: "v1", values: list(ids.map(\.uuidString)))])
    }

    static func list(_ values: [String]) -> [String] { values.count == 1 ? values + values : values }
}
