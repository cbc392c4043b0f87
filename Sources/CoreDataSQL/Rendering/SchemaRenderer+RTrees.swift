extension SchemaRenderer {
    /// Returns the exact texts of Photos libraries: the table, then its triggers for INSERT, UPDATE and DELETE.
    static func texts(of tree: CreateRTree) -> [String] {
        let name = identifier(tree.name)
        let table = identifier(tree.table)
        let sides = tree.columns.flatMap {
            [CreateRTree.minimum(of: $0), CreateRTree.maximum(of: $0)].map { identifier($0) }
        }
        let columns = (["Z_PK"] + sides).joined(separator: ", ")
        // Apple's text has a space before the comma of the first two.
        let values = tree.columns.enumerated().map { index, column in
            "NEW.\(identifier(column))\(index == 0 ? " ," : ", ")NEW.\(identifier(column))"
        }
        let row = "(\(columns)) VALUES (\((["NEW.Z_PK"] + values).joined(separator: ", "))) ;"
        func trigger(_ event: String, _ steps: String) -> String {
            let trigger = identifier("\(tree.name)_\(event)")
            return "CREATE TRIGGER \(trigger) AFTER \(event) ON \(table) FOR EACH ROW BEGIN \(steps) END"
        }
        func deletion(_ row: String) -> String { "DELETE FROM \(name) WHERE Z_PK = \(row).Z_PK ;" }
        var texts = [
            """
            CREATE VIRTUAL TABLE \(name) USING RTREE \
            (Z_PK INTEGER PRIMARY KEY, \(sides.map { "\($0) FLOAT" }.joined(separator: ", ")))
            """
        ]
        if tree.takesRows {
            let own = tree.columns.map { "\(identifier($0)), \(identifier($0))" }
            texts.append(
                "INSERT INTO \(name) (\(columns)) SELECT \((["Z_PK"] + own).joined(separator: ", ")) FROM \(table)")
        }
        return texts + [
            trigger("INSERT", "INSERT OR REPLACE INTO \(name) \(row)"),
            trigger("UPDATE", "\(deletion("NEW")) INSERT INTO \(name) \(row)"),
            trigger("DELETE", deletion("OLD")),
        ]
    }
}
