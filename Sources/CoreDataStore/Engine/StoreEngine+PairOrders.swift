import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

// Reads the order values of many-to-manys, which are not in rows.
extension StoreEngine {
    /// Returns the order values of an ordered many-to-many relationship: those of the given pairs, and of all pairs of
    /// the given owners.
    ///
    ///     // SELECT t0.Z_1BOOKS, t0.Z_2TAGS, t0.Z_FOK_2TAGS FROM Z_1TAGS t0
    ///     // WHERE t0.Z_1BOOKS = ? AND t0.Z_2TAGS = ? OR …
    ///
    /// It runs one statement for up to 64 pairs, and one for up to 500 owners.
    package func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]? {
        let property = model.entities[entity].properties[slot]
        let context = QueryContext(model: model, layout: layout, dialect: dialect)
        guard let table = context.joinTable(of: property), let order = table.orderColumn else { return nil }
        let owner = SQLExpression.column("t0", table.ownerColumn)
        let destination = SQLExpression.column("t0", table.destinationColumn)
        var select = SelectStatement(
            [.init(owner), .init(destination), .init(.column("t0", order))], from: .init(table.name, as: "t0"))
        var found: [MemberPair: Int64] = [:]
        func note(_ statement: any SQLStatement) {
            guard !statement.isNull(2) else { return }
            let pair = MemberPair(owner: statement.integer(0), destination: statement.integer(1))
            found[pair] = statement.integer(2)
        }
        try reading {
            try database.read { connection in
                var rest = pairs[...]
                while let last = rest.last {
                    let size = Self.pairCounts.first { $0 >= rest.count } ?? Self.mostPairs
                    select.condition = .or(
                        Array(
                            repeating: .and([
                                .comparison(.equal, owner, .bind(.null)),
                                .comparison(.equal, destination, .bind(.null)),
                            ]), count: size))
                    let statement = try connection.statement(select)
                    defer { statement.reset() }
                    // Fill the remaining parameters with the last pair.
                    for place in 0..<size {
                        let pair = place < rest.count ? rest[rest.startIndex + place] : last
                        try statement.bind(pair.owner, at: 2 * place)
                        try statement.bind(pair.destination, at: 2 * place + 1)
                    }
                    while try statement.step() { note(statement) }
                    rest = rest.dropFirst(size)
                }
                for part in owners.parts(in: dialect) {
                    select.condition = part.sizeClass.condition(on: owner)
                    let statement = try connection.statement(select)
                    defer { statement.reset() }
                    try part.sizeClass.bind(part.owners, to: statement)
                    while try statement.step() { note(statement) }
                }
            }
        }
        return found
    }

    /// The numbers of pairs for which statements exist.
    private static let pairCounts = [1, 2, 8, mostPairs]
    private static let mostPairs = 64
}
