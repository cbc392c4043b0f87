import CoreDataSQL
import Foundation
import TestSupport

extension SchemaVector {
    /// A store with that schema and no rows but those that number the entities, and a UUID.
    func makeStore() throws -> URL {
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Store.sqlite")
        let database = try makeDatabase(DatabaseOptions(path: file.path))
        defer { database.close() }
        try database.write { connection in
            for statement in schema.compactMap({ $0[2] }) where !statement.contains("sqlite_") {
                try connection.execute(statement)
            }
            for (index, entity) in numbered().enumerated() {
                try connection.run(
                    """
                    INSERT INTO Z_PRIMARYKEY VALUES (\(integer: Int64(index + 1)), \(bind: .text(entity.name)), \
                    \(integer: Int64(entity.parent)), 0)
                    """)
            }
        }
        try database.write { _ = try $0.run("INSERT INTO Z_METADATA VALUES (1, 'UUID', NULL)") }
        return file
    }

    /// Depth first, siblings by name without case (store-format §2); with the parent's number, 0 for a root.
    private func numbered() -> [(name: String, parent: Int)] {
        var result: [(name: String, parent: Int)] = []
        func add(below parent: String?, number: Int) {
            let siblings = model.filter { $0.value.parent == parent }.keys
                .sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
            for name in siblings {
                result.append((name, number))
                add(below: name, number: result.count)
            }
        }
        add(below: nil, number: 0)
        return result
    }
}
