import CPostgreSQL
import CoreDataSQL

/// Statements that a server runs as one, in any order. Each may expect exactly one row: the group fails if one of these
/// finds another number.
///
/// ```sql
/// WITH "s1" AS (UPDATE "Unit" SET "_version" = $1 WHERE "_id" = $2 AND "_version" = $3 RETURNING 1),
///      "s2" AS (INSERT INTO "Item" ("_id", "name") VALUES ($4, $5))
/// SELECT 1 / COALESCE((SELECT 1 FROM "s1"), 0)
/// ```
final class StatementGroup {
    struct Member {
        let prepared: PreparedStatement
        let isOfOneRow: Bool
    }

    let members: [Member]
    let text: NamedText
    fileprivate var lastUse = 0

    init(_ members: [Member], name: String) {
        self.members = members
        text = NamedText(
            ServerText.together(members.map { ($0.prepared.sql, $0.prepared.parameterTypes.count, $0.isOfOneRow) }),
            name: name, parameterTypes: members.flatMap(\.prepared.parameterTypes))
    }

    fileprivate func isOf(_ others: [HeldStatement]) -> Bool {
        guard members.count == others.count else { return false }
        for index in members.indices
        where members[index].prepared !== others[index].statement.prepared
            || members[index].isOfOneRow != others[index].isOfOneRow
        {
            return false
        }
        return true
    }
}

/// A held statement with its bindings.
struct HeldStatement {
    let statement: PostgreSQLStatement
    let isOfOneRow: Bool
    /// Runs if the statement, sent by itself, finds another number of rows.
    let otherwise: (() throws -> Void)?
}

/// The cached groups of a session, most recently used first.
///
/// Preparing and planning a group pays off only if it recurs: the first time, its statements are sent one by one.
struct StatementGroups {
    private static let limit = 32

    private var groups: [StatementGroup] = []
    private var clock = 0
    private var nameCount = 0

    /// Returns the group of these statements, if they occurred together before, and a group that was evicted.
    mutating func group(of statements: [HeldStatement]) -> (group: StatementGroup?, removed: StatementGroup?) {
        clock += 1
        if let known = groups.first(where: { $0.isOf(statements) }) {
            known.lastUse = clock
            return (known, nil)
        }
        var removed: StatementGroup?
        if groups.count == Self.limit, let oldest = groups.indices.min(by: { groups[$0].lastUse < groups[$1].lastUse })
        {
            removed = groups.remove(at: oldest)
        }
        nameCount += 1
        let members = statements.map {
            StatementGroup.Member(prepared: $0.statement.prepared, isOfOneRow: $0.isOfOneRow)
        }
        let group = StatementGroup(members, name: "g\(nameCount)")
        group.lastUse = clock
        groups.append(group)
        return (nil, removed)
    }

    /// Removes the groups that contain the statement.
    mutating func remove(with prepared: PreparedStatement) -> [StatementGroup] {
        let removed = groups.filter { $0.members.contains { $0.prepared === prepared } }
        if !removed.isEmpty { groups.removeAll { group in removed.contains { $0 === group } } }
        return removed
    }
}
