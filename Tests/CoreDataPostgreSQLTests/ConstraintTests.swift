import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import MigrationScenarios
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Foreign keys and checks of stores whose URL asks for them: `?constraints=foreign-keys,checks`.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ConstraintTests {
    static let both = "&constraints=foreign-keys,checks"

    /// Authors, books with tags, and novels, which are books that have to have a genre.
    static func makeModel(maximumPages: Int = 5000) -> NSManagedObjectModel {
        func attribute(
            _ name: String, _ type: NSAttributeType, isOptional: Bool = true, _ predicates: [String] = []
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
            attribute.setValidationPredicates(
                predicates.map { NSPredicate(format: $0) },
                withValidationWarnings: predicates.map {
                    switch ($0.hasPrefix("length"), $0.hasPrefix("time"), $0.contains(">=")) {
                    case (true, _, true): "1670"
                    case (true, _, false): "1660"
                    case (_, true, true): "1640"
                    case (_, true, false): "1630"
                    case (_, _, true): "1620"
                    default: "1610"
                    }
                })
            return attribute
        }
        func relationship(
            _ name: String, _ destination: NSEntityDescription, isToMany: Bool,
            _ rule: NSDeleteRule = .nullifyDeleteRule
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.maxCount = isToMany ? 0 : 1
            relationship.isOptional = true
            relationship.deleteRule = rule
            return relationship
        }
        let (author, book, novel, tag) = (
            NSEntityDescription(), NSEntityDescription(), NSEntityDescription(), NSEntityDescription()
        )
        (author.name, book.name, novel.name, tag.name) = ("Author", "Book", "Novel", "Tag")
        let (books, writer) = (
            relationship("books", book, isToMany: true, .cascadeDeleteRule),
            relationship("author", author, isToMany: false)
        )
        (books.inverseRelationship, writer.inverseRelationship) = (writer, books)
        let (tags, tagged) = (relationship("tags", tag, isToMany: true), relationship("books", book, isToMany: true))
        (tags.inverseRelationship, tagged.inverseRelationship) = (tagged, tags)
        // Nobody sees to it that it is there.
        let editor = relationship("editor", author, isToMany: false, .noActionDeleteRule)
        let favourites = relationship("favourites", tag, isToMany: true, .noActionDeleteRule)
        author.properties = [attribute("name", .stringAttributeType, isOptional: false), books, favourites]
        book.properties = [
            attribute("title", .stringAttributeType, isOptional: false, ["length >= 1", "length <= 4"]),
            attribute("pages", .integer32AttributeType, ["SELF >= 1", "SELF <= \(maximumPages)"]),
            attribute("price", .decimalAttributeType, ["SELF <= 99.5"]),
            attribute("day", .dateAttributeType, ["timeIntervalSinceReferenceDate >= 0"]), writer, tags, editor,
        ]
        novel.properties = [attribute("genre", .stringAttributeType, isOptional: false)]
        book.subentities = [novel]
        tag.properties = [attribute("name", .stringAttributeType), tagged]
        let model = NSManagedObjectModel()
        model.entities = [author, book, novel, tag]
        return model
    }

    static func url(_ rest: String, schema: String = Notes.newSchema("c")) throws -> URL {
        PostgreSQLStore.register()
        return try PostgreSQLServer.shared.url(schema: schema, rest)
    }

    static func context(
        _ url: URL, _ model: NSManagedObjectModel = makeModel(), _ options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func connect(_ url: URL) throws -> PostgreSQLConnection {
        try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
    }

    /// Each constraint that is neither a key nor the server's own, as the server tells it: `Book._fk_author FOREIGN KEY …`.
    static func constraints(_ url: URL) throws -> [String] {
        let connection = try connect(url)
        defer { connection.close() }
        return try connection.rows(
            """
            SELECT t.relname || '.' || c.conname || ' ' || pg_get_constraintdef(c.oid) FROM pg_constraint AS c \
            JOIN pg_class AS t ON t.oid = c.conrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace \
            WHERE n.nspname = current_schema() AND c.contype IN ('c', 'f')
            """, []
        ).compactMap { row in if case .text(let text) = row[0] { text } else { nil } }.sorted()
    }

    static func new(
        _ entity: String, _ values: [String: Any], in context: NSManagedObjectContext
    )
        -> NSManagedObject
    {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    static func code(_ error: CocoaError?) -> Int? { error?.code.rawValue }

    // MARK: What is made

    /// A model that was made in code may have words of its own for what validation refuses.
    @Test func boundsAreChecksWhateverTheyWarnOf() throws {
        let url = try Self.url(Self.both)
        let model = Self.makeModel()
        let book = try #require(model.entitiesByName["Book"])
        let pages = try #require(book.attributesByName["pages"])
        pages.setValidationPredicates(
            [NSPredicate(format: "SELF >= 2"), NSPredicate(format: "SELF <= 30"), NSPredicate(format: "SELF != 7")],
            withValidationWarnings: ["too few", "1550", "odd"])
        try #require(book.attributesByName["title"]).setValidationPredicates(
            [NSPredicate(format: "length <= 9"), NSPredicate(format: "SELF BEGINSWITH 'a'")],
            withValidationWarnings: ["too long", "begins"])
        _ = try Self.context(url, model)
        let found = try Self.constraints(url)
        #expect(found.contains("Book._check_pages CHECK (((pages >= 2) AND (pages <= 30)))"), "\(found)")
        #expect(found.contains { $0.hasPrefix("Book._check_title") && $0.hasSuffix("<= 9)))") }, "\(found)")
    }

    @Test func theSchemaSaysWhatTheModelSays() throws {
        let url = try Self.url(Self.both)
        _ = try Self.context(url)
        let reference = "DEFERRABLE INITIALLY DEFERRED"
        let length = #"(char_length(title) + char_length(regexp_replace(title, '[^𐀀-􏿿]'::text, ''::text, 'g'::text)))"#
        let found = try Self.constraints(url)
        #expect(
            found == [
                #"Author._check_name CHECK ((name IS NOT NULL))"#,
                #"Book._check_day CHECK ((day >= '2001-01-01 00:00:00+00'::timestamp with time zone))"#,
                #"Book._check_genre CHECK (((NOT (_entity = 3)) OR (genre IS NOT NULL)))"#,
                #"Book._check_pages CHECK (((pages >= 1) AND (pages <= 5000)))"#,
                #"Book._check_price CHECK ((price <= 99.5))"#,
                "Book._check_title CHECK (((title IS NOT NULL) AND (\(length) >= 1) AND (\(length) <= 4)))",
                #"Book._fk_author FOREIGN KEY (author) REFERENCES "Author"(_id) \#(reference)"#,
                #"Book._fk_editor FOREIGN KEY (editor) REFERENCES "Author"(_id) \#(reference)"#,
                #"Book_tags._fk_Book FOREIGN KEY ("Book") REFERENCES "Book"(_id) \#(reference)"#,
                #"Book_tags._fk_tags FOREIGN KEY (tags) REFERENCES "Tag"(_id) \#(reference)"#,
                #"Tag._fk_Author_favourites FOREIGN KEY ("Author_favourites") REFERENCES "Author"(_id) \#(reference)"#,
            ])
    }

    @Test func theURLSaysWhichAndNoneTakesThemAway() throws {
        let schema = Notes.newSchema("c")
        let url = try Self.url("", schema: schema)
        _ = try Self.context(url)
        #expect(try Self.constraints(url).isEmpty)
        func count(_ rest: String) throws -> (references: Int, checks: Int) {
            _ = try Self.context(Self.url(rest, schema: schema))
            let found = try Self.constraints(url)
            return (found.count { $0.contains("._fk_") }, found.count { $0.contains("._check_") })
        }
        #expect(try count("&constraints=foreign-keys") == (5, 0))
        #expect(try count("") == (5, 0), "who says nothing leaves them")
        #expect(try count("&constraints=checks") == (0, 6))
        #expect(try count(Self.both) == (5, 6))
        #expect(try count("&constraints=none") == (0, 0))
    }

    @Test func aUsersOwnConstraintsStay() throws {
        let schema = Notes.newSchema("c")
        let plain = try Self.url("", schema: schema)
        _ = try Self.context(plain)
        let connection = try Self.connect(plain)
        defer { connection.close() }
        try connection.execute(#"ALTER TABLE "Tag" ADD CONSTRAINT "_check_mine" CHECK ("name" <> 'x')"#)
        for rest in [Self.both, "&constraints=none"] {
            _ = try Self.context(Self.url(rest, schema: schema))
            #expect(try Self.constraints(plain).contains { $0.hasPrefix("Tag._check_mine") })
        }
    }

    @Test func boundsThatChangeAreMadeAnew() throws {
        let url = try Self.url(Self.both)
        _ = try Self.context(url)
        // Bounds are no part of an entity's version.
        _ = try Self.context(url, Self.makeModel(maximumPages: 10))
        #expect(try Self.constraints(url).contains { $0.contains("_check_pages") && $0.contains("<= 10)") })
    }

    @Test func anEngineThatLooksRowByRowHasNoForeignKeys() throws {
        let url = try Self.url("&engine=cockroachdb&constraints=foreign-keys")
        let checks = try Self.url("&engine=cockroachdb&constraints=checks")
        let error = #expect(throws: CocoaError.self) { _ = try Self.context(url) }
        #expect(error?.localizedDescription.contains("constraints=foreign-keys") == true)
        _ = try Self.context(checks)
        #expect(try Self.constraints(checks).count == 6)
    }

    // MARK: What they do

    @Test func savesAreAsEver() throws {
        let url = try Self.url(Self.both)
        let context = try Self.context(url)
        try context.performAndWait {
            // Books come before their author, in portions and with COPY, too.
            for count in [1, 20, 5000] {
                let books = (0..<count).map { Self.new("Novel", ["title": "b\($0 % 100)", "genre": "g"], in: context) }
                let author = Self.new("Author", ["name": "a"], in: context)
                let tag = Self.new("Tag", ["name": "t"], in: context)
                author.setValue(Set(books), forKey: "books")
                author.setValue(Set([tag]), forKey: "favourites")
                tag.setValue(Set(books), forKey: "books")
                try context.save()
                books[0].setValue(nil, forKey: "author")
                context.delete(author)
                context.delete(tag)
                try context.save()
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 1)
                context.delete(books[0])
                try context.save()
            }
            let request = NSBatchInsertRequest(
                entityName: "Author", objects: (0..<100).map { ["name": "\($0)"] })
            _ = try context.execute(request)
            _ = try context.execute(
                NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Author")))
        }
    }

    @Test func whatDanglesIsRefusedAndNothingWritten() throws {
        let url = try Self.url(Self.both)
        let context = try Self.context(url)
        try context.performAndWait {
            let author = Self.new("Author", ["name": "a"], in: context)
            let book = Self.new("Book", ["title": "b", "editor": author], in: context)
            try context.save()
            // No Action: the book goes on to lead to the author.
            context.delete(author)
            let tag = Self.new("Tag", ["name": "new"], in: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(Self.code(error) == NSManagedObjectReferentialIntegrityError)
            #expect(error?.localizedDescription.contains("_fk_editor") == true)
            #expect(author.isDeleted && tag.isInserted && tag.objectID.isTemporaryID)
            book.setValue(nil, forKey: "editor")
            try context.save()
            #expect(!tag.objectID.isTemporaryID)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) == 0)
        }
    }

    @Test func whoDeletesWhatAnotherLeadsToIsSecond() throws {
        let url = try Self.url(Self.both)
        let (one, other) = (try Self.context(url), try Self.context(url))
        let id = try one.performAndWait {
            let author = Self.new("Author", ["name": "a"], in: one)
            try one.save()
            return author.objectID
        }
        try other.performAndWait {
            let author = try other.existingObject(with: id)
            #expect((author.value(forKey: "books") as? Set<NSManagedObject>)?.isEmpty == true)
            other.delete(author)
        }
        try one.performAndWait {
            _ = Self.new("Book", ["title": "b", "author": one.object(with: id)], in: one)
            try one.save()
        }
        try other.performAndWait {
            let error = #expect(throws: CocoaError.self) { try other.save() }
            #expect(
                [NSManagedObjectReferentialIntegrityError, NSManagedObjectMergeError].contains(Self.code(error) ?? 0))
            other.rollback()
            other.refreshAllObjects()
            other.delete(try other.existingObject(with: id))
            try other.save()
            #expect(try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 0)
        }
    }

    @Test func othersAndBatchesMeetTheChecks() throws {
        let url = try Self.url(Self.both)
        let context = try Self.context(url)
        try context.performAndWait {
            let book = Self.new(
                "Book", ["title": "😀😀", "pages": 5000, "price": NSDecimalNumber(string: "99.5")], in: context)
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Book")
            for (value, code) in [(5001, NSManagedObjectConstraintValidationError), (1, nil)] {
                update.propertiesToUpdate = ["pages": value]
                do {
                    try context.execute(update)
                    #expect(code == nil)
                } catch let error as CocoaError {
                    #expect(Self.code(error) == code)
                    #expect(error.localizedDescription.contains("_check_pages"))
                }
            }
            context.refresh(book, mergeChanges: false)
            #expect(book.value(forKey: "pages") as? Int == 1)
        }
        let connection = try Self.connect(url)
        defer { connection.close() }
        // Three of these are six UTF-16 units, as validation counts.
        for assignment in [
            #""title" = '😀😀😀'"#, #""title" = ''"#, #""title" = NULL"#, #""price" = 99.51"#, #""day" = '2000-12-31'"#,
            #""_entity" = 3"#, #""author" = 99"#,
        ] {
            #expect(throws: SQLFailure.self, "\(assignment)") {
                try connection.execute(#"UPDATE "Book" SET \#(assignment)"#)
            }
        }
    }

    @Test func whatIsThereNeedNotMeetThem() throws {
        let schema = Notes.newSchema("c")
        let plain = try Self.url("", schema: schema)
        let url = try Self.url(Self.both, schema: schema)
        let context = try Self.context(plain)
        try context.performAndWait {
            _ = Self.new("Book", ["title": "b"], in: context)
            try context.save()
        }
        let connection = try Self.connect(plain)
        defer { connection.close() }
        try connection.execute(#"UPDATE "Book" SET "pages" = 9999, "author" = 77"#)
        let checked = try Self.context(url)
        let found = try Self.constraints(url)
        #expect(found.count == 11 && found.count { $0.hasSuffix("NOT VALID") } == 2)
        try checked.performAndWait {
            #expect(try checked.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 1)
            _ = Self.new("Book", ["title": "c", "pages": 10], in: checked)
            try checked.save()
        }
        #expect(throws: SQLFailure.self) {
            try connection.execute(#"UPDATE "Book" SET "pages" = 9998 WHERE "pages" = 9999"#)
        }
    }
}
