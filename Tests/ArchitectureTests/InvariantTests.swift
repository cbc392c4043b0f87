import Testing

/// The invariants of docs/architecture.md that are about more than who imports whom, by their numbers there.
@Suite struct InvariantTests {
    /// Targets below `CoreData`.
    private static let engine = [
        "CoreDataPrimitives", "CoreDataXML", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL", "CoreDataSQLite",
        "CoreDataPostgreSQLDriver", "CoreDataStore", "CoreDataCodeGeneration", "CoreDataManagedProperties",
        "CoreDataPorting", "CoreDataSyncEngine",
    ]

    // MARK: 3. Planners are pure

    /// What touches a database or a file.
    private static let outside = [
        "SQLConnection", "SQLDatabase", "SQLStatement", "FileManager", "FileHandle", "Date",
    ]

    @Test func plannersTouchNothing() throws {
        let words = ["Planner", "Translator", "QueryScope", "QueryContext", "QueryTerm", "SavePlan.", "PlanSplit"]
        var found = 0
        for (path, text) in try Repository.sources(of: "CoreDataStore") {
            guard words.contains(where: path.contains) else { continue }
            found += 1
            for line in text.lines(mentioning: Self.outside) {
                Issue.record("\(path):\(line): a planner is no executor")
            }
        }
        #expect(found > 10)
    }

    // MARK: 4. SQL text

    /// The rooms in which SQL is text.
    private static let rooms = [
        "Sources/CoreDataSQL/Rendering/", "Sources/CoreDataSQL/Dialects/", "Sources/CoreDataPostgreSQLDriver/Text/",
    ]

    /// What else may have some, and why.
    private static let exceptions: [String: (words: [String], reason: String)] = [
        "Sources/CoreDataSQL/Text/SQLIdentifier.swift": (["ABORT "], "the words that cannot stand as a name"),
        "Sources/CoreDataSQLite/": (
            ["PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "EXPLAIN QUERY PLAN ", "ANALYZE", "VACUUM"],
            "what only SQLite has, and transactions"
        ),
        "Sources/CoreDataSQLite/Connections/SQLiteFile.swift": (
            ["SELECT COUNT(*) FROM sqlite_master"], "begins to read a file that is copied as a whole"
        ),
        "Sources/CoreDataSQLite/Connections/TableReconstruction.swift": (
            ["SELECT name, rootpage FROM sqlite_master"], "finds tables in a file that is copied as a whole"
        ),
        "Sources/CoreDataSQLite/Statements/ResultValues.swift": (
            ["SELECT * FROM (VALUES"], "finds out how SQLite lays out its rows"
        ),
    ]

    /// Made once a test: it cannot be shared.
    private static func statements() throws -> Regex<Substring> {
        try Regex(
            #"""
            \b(?:SELECT\s+(?:DISTINCT\b|\*|[A-Za-z0-9_.\\(]+\s*,|[A-Za-z0-9_.()\\*]+\s+FROM\b)|SELECT\s*$|INSERT\s+(?:INTO|OR)\b\#
            |UPDATE\s+\S+\s+SET\b|UPDATE $|DELETE\s+FROM\b|(?:CREATE|DROP|ALTER)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|TRIGGER|VIEW|COLLATION|FUNCTION)\b\#
            |PRAGMA\b|EXPLAIN\b|VACUUM\b|ANALYZE\b|(?:GROUP|ORDER)\s+BY\b|(?:INNER|OUTER|LEFT|CROSS)\s+JOIN\b|ON\s+CONFLICT\b\#
            |IFNULL|COALESCE|UNION\s+ALL|LIMIT\s+[-?\d]|IS\s+(?:NOT\s+)?NULL\b|sqlite_master|json_each|ABORT ACTION\b)\#
            |^(?:BEGIN|COMMIT|ROLLBACK)\b
            """#, as: Substring.self
        ).wordBoundaryKind(.simple)
    }

    /// Whether a literal, in its quotes, has a word of SQL in it that means SQL.
    private static func isSQL(_ literal: String, _ statements: Regex<Substring>) -> Bool {
        // Regular expressions are slow, and most literals have no word in capitals.
        let bytes = literal.utf8
        func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
        guard
            zip(bytes, bytes.dropFirst()).contains(where: { isCapital($0) && isCapital($1) })
                || literal.contains("_")
        else { return false }
        var text = literal.drop { $0 == "\"" || $0 == "#" }
        while let last = text.last, last == "\"" || last == "#" { text.removeLast() }
        return text.contains(statements)
    }

    @Test func textIsMadeWhereItIsRendered() throws {
        let statements = try Self.statements()
        for target in try Repository.targets() {
            for (path, text) in try Repository.sources(of: target) {
                guard !Self.rooms.contains(where: path.hasPrefix) else { continue }
                let allowed = Self.exceptions.filter { path.hasPrefix($0.key) }.flatMap(\.value.words)
                for literal in text.literals where Self.isSQL(literal.text, statements) {
                    let start = literal.text.drop { $0 == "\"" || $0.isWhitespace }
                    guard !allowed.contains(where: start.hasPrefix) else { continue }
                    Issue.record("\(path):\(literal.line): SQL is made in CoreDataSQL/Rendering: \(literal.text)")
                }
            }
        }
    }

    /// So that the test above can fail.
    @Test(arguments: [
        ("\"SELECT Z_PK FROM ZITEM\"", true), ("\"SELECT \"", true), ("\"INSERT INTO \"", true),
        ("\"UPDATE ZITEM SET ZNAME = ?\"", true), ("\"DELETE FROM \\(table)\"", true), ("\"PRAGMA x\"", true),
        ("\"\"\"\nSELECT m.name,\nm.type FROM sqlite_master\n\"\"\"", true), ("\"IFNULL\"", true),
        ("\"CREATE UNIQUE INDEX \"", true), ("\"BEGIN IMMEDIATE\"", true), ("\" ORDER BY \"", true),
        ("\"LIMIT -1\"", true), ("\"UPDATE_DECREMENT\"", false), ("\"INSERT\"", false), ("\"Select a file\"", false),
        ("\"BEGINSWITH\"", false), ("\"name BEGINSWITH 'a'\"", false), ("\"begin\"", false),
    ])
    func statementsAreKnownFromWords(literal: String, isSQL: Bool) throws {
        #expect(Self.isSQL(literal, try Self.statements()) == isSQL)
    }

    /// An exception that nothing needs is none.
    @Test func exceptionsAreNeeded() throws {
        let sources = try Repository.targets().flatMap { try Repository.sources(of: $0) }
        for (prefix, exception) in Self.exceptions {
            for word in exception.words {
                let isUsed = sources.contains { path, text in
                    path.hasPrefix(prefix)
                        && text.literals.contains { $0.text.drop { $0 == "\"" || $0.isWhitespace }.hasPrefix(word) }
                }
                #expect(isUsed, "\(prefix) has no \(word)")
            }
        }
    }

    // MARK: 5. Broken files

    @Test func foundationsParserOfXMLIsNotUsed() throws {
        for target in try Repository.targets() {
            for (path, text) in try Repository.sources(of: target) {
                let names = ["XMLParser", "XMLDocument", "XMLElement", "XMLNode", "XMLDTD"]
                let lines =
                    text.imports.filter { $0.module == "FoundationXML" }.map(\.line) + text.lines(mentioning: names)
                for line in lines where path != "Sources/CoreDataPorting/Reading/FoundationModules.swift" {
                    Issue.record("\(path):\(line): a broken file must not stop the program")
                }
            }
        }
    }

    // MARK: 6. Global state

    @Test(arguments: engine)
    func nothingGlobalChanges(target: String) throws {
        for (path, text) in try Repository.sources(of: target) {
            for line in text.globalVariables { Issue.record("\(path):\(line): global state that nobody guards") }
        }
    }

    @Test(arguments: [
        ("var a = 1", [1]), ("private var a: Int? = nil", [1]), ("struct S {\n    static var a = 1\n}", [2]),
        ("struct S {\n    package static var a: [Int] = []\n}", [2]),
        ("enum E {\n    nonisolated(unsafe) private static var a = f()\n}", [2]),
        ("struct S {\n    var a = 1\n    static var b: Int { 1 }\n    static let c = 1\n}", []),
        ("struct S {\n    static var a: Int {\n        get throws { 1 }\n    }\n}", []),
        ("let a = 1\nfunc f() {\n    var b = 1\n}", []),
    ])
    func globalVariablesAreFound(source: String, lines: [Int]) {
        #expect(SourceText(source).globalVariables == lines)
    }

    // MARK: 7. Capabilities

    /// Where a dialect goes by its name.
    private static let namers = ["Sources/CoreDataSQL/Dialects/", "Sources/CoreDataSQLite/"]

    @Test func nobodyAsksForAProduct() throws {
        for target in ["CoreDataSQL", "CoreDataSQLite", "CoreDataStore", "CoreData"] {
            for (path, text) in try Repository.sources(of: target) {
                for line in text.comparisonsOfDialects { Issue.record("\(path):\(line): ask for a capability") }
                // A store's type has the same name, and is none.
                guard !Self.namers.contains(where: path.hasPrefix), target != "CoreData" else { continue }
                for line in text.namesOfDialects { Issue.record("\(path):\(line): the database knows its dialect") }
            }
        }
    }

    /// How something is written in a dialect says nothing of what its database can do.
    @Test(arguments: ["CoreDataSQLite", "CoreDataStore", "CoreData"])
    func nobodyConcludesFromHowItIsWritten(target: String) throws {
        for (path, text) in try Repository.sources(of: target) {
            for line in text.waysOfWriting { Issue.record("\(path):\(line): ask for a capability") }
        }
    }

    @Test(arguments: [
        ("if dialect.schema == .standard {}", [1]), ("a.dialect.catalog", [1]), ("dialect.schemaFunctions", []),
        ("schema.dialect", []),
    ])
    func waysOfWritingAreFound(source: String, lines: [Int]) {
        #expect(SourceText(source).waysOfWriting == lines)
    }

    @Test func questionsForAProductAreFound() {
        let source = SourceText(
            "if dialect == .sqlite {}\nif x.dialect !== SQLDialect.postgreSQL {}\nswitch dialect {\nlet d = dialect")
        #expect(source.comparisonsOfDialects == [1, 2, 3])
        #expect(source.namesOfDialects == [1, 2])
    }

    // MARK: 9. What Foundation has

    @Test func whatFoundationHasIsNotDeclared() throws {
        let names = [
            "NSPredicate", "NSExpression", "NSComparisonPredicate", "NSCompoundPredicate", "NSSortDescriptor",
        ]
        for (path, text) in try Repository.sources(of: "CoreData") {
            for (name, line) in text.declaredTypes where names.contains(name) {
                Issue.record("\(path):\(line): Foundation's \(name) is extended, never redeclared")
            }
        }
    }

    // MARK: 10. Traps

    @Test func nothingIsTriedWithoutACatch() throws {
        for target in try Repository.targets() {
            for (path, text) in try Repository.sources(of: target) {
                for index in text.lines(containing: ["try!"])
                where text.lines[index].firstMatch(of: /\btry!/.wordBoundaryKind(.simple)) != nil {
                    Issue.record("\(path):\(index + 1): throw the error")
                }
            }
        }
    }
}

extension SourceText {
    /// The lines that declare a variable of a file or of a type itself.
    fileprivate var globalVariables: [Int] {
        lines.indices.filter { index in
            let line = lines[index]
            let words = line.split { $0 == " " || $0 == ":" }
            guard let position = words.firstIndex(of: "var"), !line.contains("{") else { return false }
            let isOfFile = line.first?.isWhitespace == false
            return isOfFile || words[..<position].contains("static")
        }.map { $0 + 1 }
    }

    fileprivate var comparisonsOfDialects: [Int] {
        lines(containing: ["dialect"]).filter { index in
            let line = lines[index]
            return line.firstMatch(
                of: /\bdialect\s*(?:===?|!==?|~=)|\b(?:switch|case)\s+(?:\w+\.)*dialect\s*[{,]/.wordBoundaryKind(
                    .simple)) != nil
        }.map { $0 + 1 }
    }

    fileprivate var waysOfWriting: [Int] {
        lines(containing: ["dialect.schema", "dialect.catalog"]).filter { index in
            lines[index].firstMatch(of: /\bdialect\.(?:schema|catalog)\b/.wordBoundaryKind(.simple)) != nil
        }.map { $0 + 1 }
    }

    fileprivate var namesOfDialects: [Int] {
        lines(containing: [".sqlite", ".postgreSQL"]).filter { index in
            lines[index].firstMatch(of: /\.(?:sqlite|postgreSQL)\b/.wordBoundaryKind(.simple)) != nil
        }.map { $0 + 1 }
    }

    fileprivate var declaredTypes: [(name: String, line: Int)] {
        lines(containing: ["class", "struct", "enum", "protocol", "actor"]).compactMap { index in
            lines[index].firstMatch(of: /\b(?:class|struct|enum|protocol|actor)\s+(\w+)/.wordBoundaryKind(.simple))
                .map { (String($0.1), index + 1) }
        }
    }
}
