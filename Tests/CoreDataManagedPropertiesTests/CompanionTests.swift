import CoreDataManagedProperties
import CoreDataPrimitives
import Testing

@Suite struct CompanionTests {
    private func companion(_ text: String, dependencies: [String: String] = [:]) -> Companion {
        Companion(
            target: ModuleSources(name: "App", files: [.init(path: "/App/Note.swift", text: text)]),
            dependencies: dependencies.sorted(by: <).map { name, text in
                ModuleSources(name: name, files: [.init(path: "/\(name)/\(name).swift", text: text)])
            })
    }

    private func firstError(_ text: String) -> Diagnostic? { companion(text).diagnostics.first }

    @Test func aPropertyGetsAGetterAndASetter() {
        let text = companion(
            "import CoreData\npublic class Note: NSManagedObject { @NSManaged public var title: String? }"
        ).text
        #expect(text.contains("static let Note_title = PropertyKey<Swift.String?>(\"title\")"))
        #expect(
            text.contains(
                """
                extension App.Note {
                    @_silgen_name("$s3App4NoteC5titleSSSgvg")
                    nonisolated public dynamic func _managed_App_Note_title() -> Swift.String? { self[ManagedKeys.Note_title] }
                }
                """))
        #expect(text.contains("_setTitle(_ value: __owned Swift.String?) { self[ManagedKeys.Note_title] = value }"))
    }

    @Test func aFileWithoutManagedPropertiesGivesAnEmptyCompanion() {
        let companion = companion("struct Plain { var x: Int }")
        #expect(companion.symbols.isEmpty)
        #expect(companion.diagnostics.isEmpty)
        #expect(!companion.text.contains("import"))
    }

    @Test func oneTypeGoesForSeveralNames() {
        #expect(
            companion("class Note: NSObject { @NSManaged var a, b: Int\n  @NSManaged\n  var c: Bool }").symbols == [
                "$s3App4NoteC1aSivg", "$s3App4NoteC1aSivs", "$s3App4NoteC1bSivg", "$s3App4NoteC1bSivs",
                "$s3App4NoteC1cSbvg", "$s3App4NoteC1cSbvs",
            ])
    }

    @Test func unknownConditionsAreRepeatedAndApplesAreLeftOut() {
        let companion = companion(
            """
            class Note: NSObject {
                #if os(iOS) || canImport(UIKit)
                    @NSManaged var colour: UIColor?
                #elseif DEBUG && !NEVER
                    @NSManaged var colour: String?
                #else
                    @NSManaged var colour: Int
                #endif
            }
            """)
        #expect(companion.diagnostics.isEmpty)
        #expect(companion.symbols.count == 4)
        #expect(companion.text.contains("#if (DEBUG && !NEVER)\nextension App.Note"))
        #expect(companion.text.contains("#if (!(DEBUG && !NEVER))\nextension App.Note"))
    }

    @Test func primitiveValuesBelongToTheirProperty() {
        let text = companion(
            "class Note: NSObject { @NSManaged var URLText: String\n @NSManaged var primitiveURLText: String\n"
                + "@NSManaged var primitiveTitle: String? }"
        ).text
        #expect(text.contains("PropertyKey<Swift.String>(\"URLText\")"))
        #expect(text.contains("self[primitive: ManagedKeys.Note_URLText] = value"))
        #expect(text.contains("PropertyKey<Swift.String?>(\"title\")"))
        // `primitives` is a name like others.
        #expect(companion("class A: NSObject { @NSManaged var primitives: Int }").text.contains("(\"primitives\")"))
    }

    @Test func collectionMethodsCallTheirKey() {
        let text = companion(
            """
            import CoreData
            class Folder: NSManagedObject {
                @NSManaged var notes: NSOrderedSet
                @NSManaged func addToNotes(_ value: Folder)
                @NSManaged func addToNotes(_ values: Set<Folder>)
                @NSManaged func insertIntoNotes(_ value: Folder, at index: Int)
                @NSManaged func removeFromNotes(at indexes: IndexSet)
                @NSManaged func replaceNotes(at index: Int, with value: Folder)
                @NSManaged func removeNotesObject(_ value: Folder)
            }
            """
        ).text
        for body in [
            "add(p0, to:", "add(Foundation.NSSet(array: Swift.Array(p0)), to:", "insert(p0, into: ", "at: p1)",
            "remove(at: Foundation.NSIndexSet(indexSet: p0), from:", "replace(at: p0, with: p1, in:",
            "remove(p0, from: ManagedKeys.Folder_notes",
        ] { #expect(text.contains(body), "\(body)") }
    }

    @Test(arguments: [
        ("insertObject(_ value: Folder, inNotesAtIndex idx: Int)", "insert(p0, into: KEY, at: p1)"),
        ("insertNotes(_ values: [Folder], atIndexes indexes: NSIndexSet)", "insert(p0, into: KEY, at: p1)"),
        ("removeObjectFromNotesAtIndex(_ idx: Int)", "remove(at: p0, from: KEY)"),
        ("removeNotesAtIndexes(_ indexes: NSIndexSet)", "remove(at: p0, from: KEY)"),
        ("replaceObjectInNotesAtIndex(_ idx: Int, withObject value: Folder)", "replace(at: p0, with: p1, in: KEY)"),
        (
            "replaceNotesAtIndexes(_ indexes: NSIndexSet, withNotes values: [Folder])",
            "replace(at: p0, with: p1, in: KEY)"
        ),
    ])
    func olderNamesOfMethodsCallTheirKey(declaration: String, body: String) {
        let companion = companion(
            "import CoreData\nclass Folder: NSManagedObject { @NSManaged var notes: NSOrderedSet\n"
                + "@NSManaged func \(declaration) }")
        #expect(companion.diagnostics.isEmpty)
        // Methods have a key of their own beside the property's.
        #expect(companion.text.replacing("ManagedKeys.Folder_notes_2", with: "KEY").contains(body))
    }

    @Test func methodIsKnownByItsNameInObjectiveC() {
        let companion = companion(
            "import CoreData\nclass Folder: NSManagedObject { @objc(addNotesObject:) @NSManaged func file(_ a: Folder) }"
        )
        #expect(companion.diagnostics.isEmpty)
        #expect(companion.text.contains("add(p0, to: ManagedKeys.Folder_notes)"))
    }

    @Test func methodIsAboutThePropertyThatThereIs() {
        let method = "@NSManaged func addToDos(_ values: NSSet)"
        #expect(companion("class A: NSObject { @NSManaged var toDos: NSSet\n\(method) }").text.contains("(\"toDos\")"))
        #expect(companion("class A: NSObject { \(method) }").text.contains("(\"dos\")"))
    }

    @Test func typesOfOtherModulesAreImportedAndQualified() {
        let companion = companion(
            """
            import Kinds
            class Note: NSObject { @NSManaged var mood: Mood?, place: Place.Kind }
            """,
            dependencies: [
                "Kinds": "@_exported import Places\npublic enum Mood: Int16 { case calm }",
                "Places": "public enum Place {}\nextension Place { public enum Kind: Int { case one } }\nenum Mood {}",
                "Unused": "public enum Mood {}",
            ])
        #expect(companion.diagnostics.isEmpty)
        #expect(companion.symbols.first == "$s3App4NoteC4mood5Kinds4MoodOSgvg")
        #expect(companion.text.contains("PropertyKey<Kinds.Mood?>"))
        #expect(companion.text.contains("import Kinds\nimport Places\n"))
    }

    // MARK: Errors

    @Test func anUnknownTypeIsToldWithItsPlace() throws {
        let error = try #require(firstError("class Note: NSObject {\n    @NSManaged var mood: [Mood]\n}"))
        #expect(error.location == SourceLocation(file: "/App/Note.swift", line: 2, column: 27))
        #expect(error.message.contains("'Mood'"))
        #expect(error.hint?.isEmpty == false)
    }

    @Test func aPrivateClassCannotBeReached() throws {
        let error = try #require(firstError("private class Note: NSObject { @NSManaged var mood: Int }"))
        #expect(error.message.contains("'mood'"))
        #expect(error.hint?.contains("internal") == true)
        #expect(firstError("class Note: NSObject { @NSManaged private var mood: Int }") == nil)
    }

    @Test func aPrivateTypeCannotBeNamed() throws {
        let error = try #require(
            firstError(
                "class Note: NSObject { private enum Mood: Int { case calm }\n@NSManaged private var mood: Mood }"))
        #expect(error.message.contains("'mood'") && error.message.contains("'Mood'"))
    }

    @Test(arguments: [
        "class Note<T>: NSObject { @NSManaged var mood: Int }",
        "struct Note { @NSManaged var mood: Int }",
        "class Note: NSObject { @NSManaged func brew() }",
        "class Note: NSObject { @NSManaged func addToItems(_ value: Note) -> Int }",
        "class Note: NSObject { @NSManaged var mood: (Int) -> Void }",
        "class Note: NSObject { @NSManaged var mood }",
        "extension Missing { @NSManaged var mood: Int }",
        "func make() { class Note: NSObject { @NSManaged var mood: Int } }",
        "import One\nimport Two\nclass Note: NSObject { @NSManaged var mood: Mood }",
    ]) func whatIsNotSupportedIsAnError(_ text: String) throws {
        let companion = companion(text, dependencies: ["One": "public enum Mood {}", "Two": "public enum Mood {}"])
        let error = try #require(companion.diagnostics.first)
        #expect(error.severity == .error)
        #expect(error.location?.line ?? 0 > 0)
        #expect(error.hint?.isEmpty == false)
    }
}
