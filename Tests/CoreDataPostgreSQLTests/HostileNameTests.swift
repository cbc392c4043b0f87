import CoreData
import CoreDataModel
import CoreDataPostgreSQL
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Nothing that stands in a model or in data becomes a statement, however sessions are set.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct HostileNameTests {
    /// A role whose sessions read texts in the old way, and have what else may be set so that words mean other things.
    static let settings: [(role: String, words: [String])] = [
        ("plain_texts", []),
        (
            "escaped_texts",
            [
                "standard_conforming_strings = off", "backslash_quote = on", "escape_string_warning = off",
                "array_nulls = off", "transform_null_equals = on", "bytea_output = escape", "extra_float_digits = 0",
                "datestyle = 'German, DMY'", "intervalstyle = sql_standard", "plpgsql.variable_conflict = use_variable",
                "quote_all_identifiers = on", "search_path = pg_temp, information_schema",
            ]
        ),
    ]

    /// Guards who makes the roles.
    static let made = Mutex(false)

    static func makeRoles(_ server: PostgreSQLServer) throws {
        try made.withLock { made in
            if made { return }
            let connection = try PostgreSQLConnection(
                PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
            defer { connection.close() }
            for (role, words) in settings {
                try connection.execute("CREATE ROLE \(role) LOGIN SUPERUSER")
                for word in words { try connection.execute("ALTER ROLE \(role) SET \(word)") }
            }
            made = true
        }
    }

    /// What would be the end of a name or of a text, or more, if it were put into a statement as it is.
    static let hostile = [
        "it's", #"quo"ted"#, #"back\slash"#, #"\"#, #"\' OR 1 = 1 --"#, #"\'; DROP TABLE "Victim"; --"#,
        #"'; DROP TABLE "Victim"; --"#, #""; DROP TABLE "Victim"; --"#, #"\"; DROP TABLE "Victim"; --"#,
        #"$$; DROP TABLE "Victim"; $$"#, #"$t1$ $$ $body$"#, "%s %d %n %@", "{0} {1} $1 $2", "?", "a;b", "/* -- */",
        "E'\\\\'", "U&'\\0027'", "line\nbreak\ttab\r", "Ünïcödé 名前 🦊 e\u{301}", "\u{FEFF}\u{200B}",
        String(repeating: "long ", count: 60), String(repeating: "名", count: 50), String(repeating: "'", count: 70),
    ]

    /// Words of the language of triggers, of SQL, and of ours, as the names of entities or properties may be.
    static let words = [
        "new", "old", "found", "changed", "tg_op", "tg_name", "row", "select", "user", "order", "group", "table",
        "column1", "v", "t0", "value", "name", "number", "excluded", "current_user", "ctid", "xmin", "tableoid", "oid",
        "_entity", "_Version", "Ünïcödé", "名前", "é", "e\u{301}", String(repeating: "long", count: 40),
        String(repeating: "名", count: 40), "public", "pg_catalog", "pg_user", "pg_class", "pg_new",
    ]

    func connect(_ role: String, schema: String) throws -> PostgreSQLConnection {
        let server = try PostgreSQLServer.shared
        try Self.makeRoles(server)
        return try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema, user: role))))
    }

    // MARK: Statements

    /// A table, an index and a trigger of names and constants of any kind; a compiled model may have them, which nobody checked.
    @Test(arguments: ["plain_texts", "escaped_texts"]) func aSchemaOfAnyNamesIsWhatItSays(role: String) throws {
        let schema = Notes.newSchema("h")
        let connection = try connect(role, schema: schema)
        defer { connection.close() }
        try connection.execute(ServerText.createSchema(schema))
        try connection.execute(#"CREATE TABLE "Victim" (id INTEGER)"#)
        func run(_ statement: SchemaStatement) throws {
            for text in try SchemaRenderer.texts(of: statement, in: connection.dialect) {
                try connection.execute(text)
            }
        }
        for name in Self.hostile {
            let table = "T" + name
            try run(
                .table(
                    CreateTable(
                        table,
                        columns: [
                            .init("Z_PK", .rowKey), .init("Z_ENT", .integer), .init(name, .text),
                            .init(name + "2", .text), .init(name + "3", .bytes),
                        ])))
            var index = CreateIndex("I" + name, on: table, [.init(name, isAscending: true)], isUnique: true)
            index.condition = .or([
                .comparison(.equal, .column(nil, name), .bind(.text(name))),
                .inList(.column(nil, name + "2"), [.bind(.text(name + #"\"#)), .bind(.text(#"\'"# + name))]),
                .comparison(.equal, .column(nil, name + "3"), .bind(.blob(Data([0, 0x27, 0x5C])))),
            ])
            try run(.index(index))
            let isNew = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .column("NEW", "Z_PK"))
            try run(
                .trigger(
                    CreateTrigger(
                        "D" + name, after: .insert, on: table,
                        [
                            .update(table, set: name + "2", to: .bind(.text(name + #"\"#)), where: isNew),
                            .select(
                                .function(
                                    .derivedAttributeInserted,
                                    [
                                        .bind(.text(table)), .column(nil, "Z_ENT"), .column(nil, "Z_PK"),
                                        .bind(.text(name)), .column(nil, name),
                                    ]), from: table, where: isNew),
                        ])))
            let insert = InsertStatement(
                into: table, columns: ["Z_PK", "Z_ENT", name],
                rows: [[.integer(1), .integer(4), .bind(.text(name))]])
            try connection.run(insert)
            let query = SelectStatement(
                [.init(.column(nil, name)), .init(.column(nil, name + "2"))], from: .init(table))
            #expect(try connection.rows(query) == [[.text(name), .text(name + #"\"#)]], "\(name)")
            #expect(connection.derivedAttributeReports.last?.attribute == name, "\(name)")
            // The condition of the index holds for that row, and for no other.
            let again = InsertStatement(
                into: table, columns: ["Z_PK", "Z_ENT", name], rows: [[.integer(2), .integer(4), .bind(.text(name))]])
            let failure = #expect(throws: SQLFailure.self, "\(name)") { try connection.run(again) }
            #expect(failure?.kind == .constraint, "\(name)")
            try connection.run(SchemaChange.dropTrigger("D" + name, on: table))
            try connection.run(SchemaChange.addColumn(.init(name + "4", .text), to: table))
            try connection.run(SchemaChange.renameTable(table, to: "R" + name))
            try connection.run(SchemaChange.dropTable("R" + name))
        }
        #expect(
            try connection.rows(CatalogQuery.tableNames) == [[.text("Victim")]],
            "what was made was taken away, and nothing else")
        try connection.execute(ServerText.dropSchema(schema))
    }

    // MARK: Stores

    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType
    )
        -> NSAttributeDescription
    {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    static func relate(
        _ a: NSEntityDescription, _ name: String, _ b: NSEntityDescription, _ inverse: String, isToMany: Bool
    ) {
        let (one, other) = (NSRelationshipDescription(), NSRelationshipDescription())
        (one.name, one.destinationEntity, one.inverseRelationship, one.maxCount) = (name, b, other, isToMany ? 0 : 1)
        (other.name, other.destinationEntity, other.inverseRelationship, other.maxCount) = (inverse, a, one, 0)
        a.properties.append(one)
        b.properties.append(other)
    }

    /// An entity with an attribute, a constraint, an index, relationships and derived attributes of that name.
    static func makeModel(_ name: String, constant: String, version: Int = 1) -> NSManagedObjectModel {
        let (entity, other) = (NSEntityDescription(), NSEntityDescription())
        (entity.name, other.name) = (name, name + "s")
        let text = attribute(name)
        let count = attribute(name + "Count", .integer64AttributeType)
        let derived = NSDerivedAttributeDescription()
        (derived.name, derived.attributeType, derived.isOptional) = (name + "U", .stringAttributeType, true)
        derived.derivationExpression = NSExpression(format: "uppercase:(#\(name))")
        entity.properties = [text, count, derived]
        if version == 2 {
            let more = attribute(name + "More")
            (more.isOptional, more.defaultValue) = (false, constant)
            entity.properties.append(more)
        }
        other.properties = [attribute(name)]
        relate(entity, name + "One", other, name + "Many", isToMany: false)
        relate(entity, name + "Links", other, name + "Linked", isToMany: true)
        let members = NSDerivedAttributeDescription()
        (members.name, members.attributeType, members.isOptional) = (name + "N", .integer64AttributeType, true)
        members.derivationExpression = NSExpression(format: "#\(name)Many.@count")
        other.properties.append(members)
        let index = NSFetchIndexDescription(
            name: constant, elements: [NSFetchIndexElementDescription(property: count, collationType: .binary)])
        index.partialIndexPredicate = NSPredicate(
            format: "#\(name) != %@ AND #\(name)Count != -1", argumentArray: [constant])
        entity.indexes = [index]
        entity.uniquenessConstraints = [[name]]
        let model = NSManagedObjectModel()
        model.entities = [entity, other]
        model.setEntities([entity, other], forConfigurationName: constant)
        return model
    }

    func open(
        _ url: URL, _ model: NSManagedObjectModel, configuration: String? = nil, _ options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        PostgreSQLStore.register()
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        var all = options
        all[NSPersistentHistoryTrackingKey] = true
        try coordinator.addPersistentStore(type: .postgreSQL, configuration: configuration, at: url, options: all)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(arguments: Trials.some(of: ["plain_texts", "escaped_texts"]))
    func aModelOfAnyNamesIsAStore(role: String) throws {
        let server = try PostgreSQLServer.shared
        try Self.makeRoles(server)
        for (number, name) in Trials.some(of: Array(Self.words.enumerated())) {
            let constant = Self.hostile[number % Self.hostile.count]
            let url = server.url(schema: Notes.newSchema("h"), user: role)
            do {
                let context = try open(url, Self.makeModel(name, constant: constant), configuration: constant)
                try context.performAndWait {
                    let other = NSEntityDescription.insertNewObject(forEntityName: name + "s", into: context)
                    let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                    object.setValue(constant, forKey: name)
                    object.setValue(7, forKey: name + "Count")
                    object.setValue(other, forKey: name + "One")
                    object.setValue(NSSet(object: other), forKey: name + "Links")
                    try context.save()
                    context.reset()
                    let request = NSFetchRequest<NSManagedObject>(entityName: name)
                    request.predicate = NSPredicate(
                        format: "#\(name) == %@ AND ANY #\(name)Links.#\(name)N == 1", argumentArray: [constant])
                    let found = try #require(try context.fetch(request).first, "\(name)")
                    #expect(found.value(forKey: name + "U") as? String == constant.uppercased(), "\(name)")
                    context.reset()
                    // Rows of one value of the constraint meet.
                    let twin = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                    twin.setValue(constant, forKey: name)
                    let error = #expect(throws: CocoaError.self, "\(name)") { try context.save() }
                    #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError, "\(name)")
                }
                let migrated = try open(
                    url, Self.makeModel(name, constant: constant, version: 2), configuration: constant,
                    [
                        NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                    ])
                try migrated.performAndWait {
                    let found = try migrated.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
                    #expect(found.count == 1 && found.first?.value(forKey: name + "More") as? String == constant)
                }
            } catch { Issue.record("\(name): \(error)") }
        }
    }

    @Test func whatIsNoNameIsRefused() throws {
        let server = try PostgreSQLServer.shared
        try Self.makeRoles(server)
        for name in Self.hostile + ["a\0b", "\0", ""] where name.contains(where: { !$0.isLetter }) || name.isEmpty {
            let entity = NSEntityDescription()
            entity.name = "Item"
            entity.properties = [Self.attribute(name)]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let url = server.url(schema: Notes.newSchema("h"), user: "escaped_texts")
            let error = #expect(throws: CocoaError.self, "\(name)") { try open(url, model) }
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }

    @Test(arguments: Trials.some(of: ["plain_texts", "escaped_texts"]))
    func aSchemaOfAnyNameIsAPlaceForAStore(role: String) throws {
        let server = try PostgreSQLServer.shared
        try Self.makeRoles(server)
        for text in Trials.some(of: Self.hostile) {
            let name = String((role.first.map(String.init) ?? "") + text)
            guard let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else { continue }
            let url = server.url(schema: escaped, user: role)
            guard name.utf8.count <= 63 else {
                #expect(throws: CocoaError.self, "\(name)") { try Notes(url) }
                continue
            }
            let notes = try Notes(url)
            let context = notes.newContext()
            try context.performAndWait {
                Notes.insert(name, in: context)
                try context.save()
            }
            #expect(try notes.contents().map(\.name) == [name])
            // Copied beside it, and put in its place.
            let store = try #require(notes.coordinator.persistentStores.first)
            let other = server.url(schema: escaped + "2", user: role)
            guard name.utf8.count < 63 else { continue }
            try notes.coordinator.migratePersistentStore(store, to: other, type: .postgreSQL)
            #expect(try notes.contents().map(\.name) == [name], "\(name)")
            for place in [url, other] {
                try notes.coordinator.destroyPersistentStore(at: place, type: .postgreSQL)
            }
        }
    }

    @Test func whatNoServerTakesIsRefusedAndNothingIsSaved() throws {
        let server = try PostgreSQLServer.shared
        let notes = try Notes(server.url(schema: Notes.newSchema("h")))
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
            for text in ["a\0", "\0", "a\0'; DROP TABLE \"Note\"; --"] {
                for count in [1, 12] {
                    for _ in 0..<count { Notes.insert(text, in: context) }
                    let error = #expect(throws: CocoaError.self) { try context.save() }
                    #expect(error?.localizedDescription.contains("U+0000") == true, "\(String(describing: error))")
                    context.rollback()
                }
                let update = NSBatchUpdateRequest(entityName: "Note")
                update.propertiesToUpdate = ["name": text]
                let error = #expect(throws: CocoaError.self) { try context.execute(update) }
                #expect(error?.localizedDescription.contains("U+0000") == true, "\(String(describing: error))")
            }
        }
        #expect(try notes.contents().map(\.name) == ["a"])
    }

    @Test func whatNoServerKeepsIsNoRowsValue() throws {
        let server = try PostgreSQLServer.shared
        let notes = try Notes(server.url(schema: Notes.newSchema("h")))
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
            for text in ["a\0", "\0", "a\0'; DROP TABLE \"Note\"; --"] {
                let cases: [(String, [Any], Int)] = [
                    ("name == %@", [text], 0), ("name != %@", [text], 1), ("name IN %@", [[text, "a"]], 1),
                    ("NOT name IN %@", [[text, "b"]], 1), ("name BEGINSWITH %@", [text], 0),
                    ("name < %@", [text], text == "\0" ? 0 : 1),
                    ("%@ BEGINSWITH name", [text], text == "\0" ? 0 : 1), ("name CONTAINS[cd] %@", [text], 0),
                ]
                for (format, arguments, count) in cases {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.predicate = NSPredicate(format: format, argumentArray: arguments)
                    #expect(
                        try context.count(for: request) == count && context.fetch(request).count == count,
                        "\(format) \(arguments)")
                }
                let update = NSBatchUpdateRequest(entityName: "Note")
                (update.predicate, update.propertiesToUpdate) = (NSPredicate(format: "name == %@", text), ["name": "b"])
                update.resultType = .updatedObjectsCountResultType
                let result = try context.execute(update) as? NSBatchUpdateResult
                #expect(result?.result as? Int == 0)
            }
        }
        #expect(try notes.contents().map(\.name) == ["a"])
    }
}
