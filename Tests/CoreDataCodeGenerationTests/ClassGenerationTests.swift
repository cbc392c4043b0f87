import CoreDataModel
import Foundation
import Testing

@testable import CoreDataCodeGeneration

@Suite struct ClassGenerationTests {
    // MARK: Whole files

    /// One attribute of each kind, in the order of their names.
    private static let attributes = """
        <entity name="Thing" representedClassName="Thing" codeGenerationType="class">
            <attribute name="a" optional="YES" attributeType="Integer 16" usesScalarValueType="YES"/>
            <attribute name="b" attributeType="Integer 32" usesScalarValueType="YES"/>
            <attribute name="c" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
            <attribute name="d" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
            <attribute name="e" optional="YES" attributeType="Float" usesScalarValueType="YES"/>
            <attribute name="f" optional="YES" attributeType="Boolean" usesScalarValueType="YES"/>
            <attribute name="g" optional="YES" attributeType="Boolean" usesScalarValueType="NO"/>
            <attribute name="h" optional="YES" attributeType="Integer 16"/>
            <attribute name="i" optional="YES" attributeType="Decimal"/>
            <attribute name="j" attributeType="String"/>
            <attribute name="k" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
            <attribute name="l" optional="YES" attributeType="Date" usesScalarValueType="YES"/>
            <attribute name="m" optional="YES" attributeType="Binary"/>
            <attribute name="n" optional="YES" attributeType="UUID"/>
            <attribute name="o" optional="YES" attributeType="URI"/>
            <attribute name="p" optional="YES" attributeType="Transformable"/>
            <attribute name="q" optional="YES" attributeType="Transformable" customClassName="Shop.Colour"/>
            <attribute name="r" optional="YES" attributeType="Transformable" customClassName="[String]"/>
            <attribute name="s" optional="YES" transient="YES" attributeType="Undefined"/>
            <attribute name="t" optional="YES" attributeType="Composite" composite="Place"/>
            <attribute name="default" optional="YES" attributeType="String"/>
        </entity>
        <composite name="Place"><attribute name="x" attributeType="Double"/></composite>
        """

    @Test func attributesHaveTheTypesThatXcodeGivesThem() throws {
        let texts = try ModelSource(Self.attributes).texts()
        let text = try #require(texts["Thing+CoreDataClass.swift"])
        let declared = text.split(separator: "\n").filter { $0.contains("public var") }
            .map { $0.trimmingCharacters(in: .whitespaces).dropFirst("public var ".count).dropLast(" {".count) }
        #expect(
            declared == [
                "a: Int16", "b: Int32", "c: Int64", "d: Double", "`default`: String?", "e: Float", "f: Bool",
                "g: NSNumber?", "h: NSNumber?", "i: NSDecimalNumber?", "j: String?", "k: Date?", "l: TimeInterval",
                "m: Data?", "n: UUID?", "o: URL?", "p: NSObject?", "q: Colour?", "r: [String]?", "s: NSObject?",
                "t: [String: Any]?",
            ])
    }

    @Test func aClassIsTwoFiles() throws {
        let source = try ModelSource(
            """
            <entity name="Item" representedClassName=".Item" codeGenerationType="class">
                <attribute name="colour" optional="YES" attributeType="Transformable" customClassName="Colour"/>
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="unit" optional="YES" maxCount="1" destinationEntity="Unit" inverseName="items" inverseEntity="Unit"/>
                <fetchedProperty name="similar"><fetchRequest name="x" entity="Item" predicateString="name == $FETCH_SOURCE.name"/></fetchedProperty>
            </entity>
            <entity name="Unit" representedClassName="Unit" codeGenerationType="class">
                <relationship name="items" optional="YES" toMany="YES" destinationEntity="Item" inverseName="unit" inverseEntity="Item"/>
            </entity>
            """)
        let texts = try source.texts()
        #expect(
            texts.keys.sorted() == [
                "Item+CoreDataClass.swift", "Item+CoreDataProperties.swift", "Unit+CoreDataClass.swift",
                "Unit+CoreDataProperties.swift",
            ])
        #expect(
            texts["Item+CoreDataClass.swift"] == """
                nonisolated public class Item: NSManagedObject {
                    public var colour: Colour? {
                        get { self[object: _ItemKeys.colour] }
                        set { self[object: _ItemKeys.colour] = newValue }
                    }

                    public var name: String? {
                        get { self[_ItemKeys.name] }
                        set { self[_ItemKeys.name] = newValue }
                    }

                    public var unit: Unit? {
                        get { self[_ItemKeys.unit] }
                        set { self[_ItemKeys.unit] = newValue }
                    }

                    public var similar: [Item] { self[fetched: _ItemKeys.similar] }
                }

                nonisolated private enum _ItemKeys {
                    static let colour = PropertyKey<Colour>("colour")
                    static let name = PropertyKey<String?>("name")
                    static let unit = PropertyKey<Unit?>("unit")
                    static let similar = PropertyKey<[Item]>("similar")
                }

                """)
        #expect(
            texts["Item+CoreDataProperties.swift"] == """
                nonisolated extension Item {
                    public class func fetchRequest() -> NSFetchRequest<Item> {
                        return NSFetchRequest<Item>(entityName: "Item")
                    }
                }

                nonisolated extension Item: Identifiable {}

                /// Tells sort descriptors and expressions what the key paths of Item are called.
                nonisolated final class _ItemKeyPaths: ManagedKeyPaths {
                    override class var names: [AnyKeyPath: String] {
                        [
                            \\Item.colour: "colour",
                            \\Item.name: "name",
                            \\Item.unit: "unit",
                        ]
                    }
                }

                """)
        #expect(
            texts["Unit+CoreDataClass.swift"] == """
                nonisolated public class Unit: NSManagedObject {
                    public var items: NSSet? {
                        get { self[_UnitKeys.items] }
                        set { self[_UnitKeys.items] = newValue }
                    }

                    // MARK: Generated accessors for items

                    public func addToItems(_ value: Item) { add(value, to: _UnitKeys.items) }
                    public func removeFromItems(_ value: Item) { remove(value, from: _UnitKeys.items) }
                    public func addToItems(_ values: NSSet) { add(values, to: _UnitKeys.items) }
                    public func removeFromItems(_ values: NSSet) { remove(values, from: _UnitKeys.items) }
                }

                nonisolated private enum _UnitKeys {
                    static let items = PropertyKey<NSSet?>("items")
                }

                """)
    }

    @Test func aCategoryIsAnExtensionOfItsAuthorsClass() throws {
        let source = try ModelSource(
            """
            <entity name="Page" representedClassName="CDPage" codeGenerationType="category">
                <relationship name="lines" optional="YES" toMany="YES" ordered="YES" destinationEntity="Page"/>
            </entity>
            """)
        let texts = try source.texts(GenerationOptions(access: .internal))
        #expect(
            texts == [
                "CDPage+CoreDataProperties.swift": """
                nonisolated extension CDPage {
                    var lines: NSOrderedSet? {
                        get { self[_CDPageKeys.lines] }
                        set { self[_CDPageKeys.lines] = newValue }
                    }

                    // MARK: Generated accessors for lines

                    func insertIntoLines(_ value: CDPage, at idx: Int) { insert(value, into: _CDPageKeys.lines, at: idx) }
                    func removeFromLines(at idx: Int) { remove(at: idx, from: _CDPageKeys.lines) }
                    func insertIntoLines(_ values: [CDPage], at indexes: NSIndexSet) { insert(values, into: _CDPageKeys.lines, at: indexes) }
                    func removeFromLines(at indexes: NSIndexSet) { remove(at: indexes, from: _CDPageKeys.lines) }
                    func replaceLines(at idx: Int, with value: CDPage) { replace(at: idx, with: value, in: _CDPageKeys.lines) }
                    func replaceLines(at indexes: NSIndexSet, with values: [CDPage]) { replace(at: indexes, with: values, in: _CDPageKeys.lines) }
                    func addToLines(_ value: CDPage) { add(value, to: _CDPageKeys.lines) }
                    func removeFromLines(_ value: CDPage) { remove(value, from: _CDPageKeys.lines) }
                    func addToLines(_ values: NSOrderedSet) { add(values, to: _CDPageKeys.lines) }
                    func removeFromLines(_ values: NSOrderedSet) { remove(values, from: _CDPageKeys.lines) }
                }

                nonisolated private enum _CDPageKeys {
                    static let lines = PropertyKey<NSOrderedSet?>("lines")
                }

                nonisolated extension CDPage {
                    class func fetchRequest() -> NSFetchRequest<CDPage> {
                        return NSFetchRequest<CDPage>(entityName: "Page")
                    }
                }

                nonisolated extension CDPage: Identifiable {}

                /// Tells sort descriptors and expressions what the key paths of CDPage are called.
                nonisolated final class _CDPageKeyPaths: ManagedKeyPaths {
                    override class var names: [AnyKeyPath: String] {
                        [
                            \\CDPage.lines: "lines",
                        ]
                    }
                }

                """
            ])
    }

    // MARK: Inheritance

    private static let family = """
        <entity name="Person" representedClassName="Person" codeGenerationType="class" isAbstract="YES">
            <attribute name="name" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Author" representedClassName="Author" parentEntity="Person" codeGenerationType="class">
            <relationship name="editor" optional="YES" maxCount="1" destinationEntity="Author"/>
        </entity>
        <entity name="Poet" representedClassName="Poet" parentEntity="Author" codeGenerationType="class"/>
        """

    @Test func aChainHasOneIdentityAndOneRequestForEachClass() throws {
        let texts = try ModelSource(Self.family).texts()
        let author = try #require(texts["Author+CoreDataProperties.swift"])
        #expect(
            author.hasPrefix(
                """
                /// Has `fetchRequest()` of Author, so that the classes below it can have their own.
                nonisolated public protocol _AuthorFetching: _PersonFetching {}

                nonisolated extension _AuthorFetching {
                    public static func fetchRequest() -> NSFetchRequest<Author> {
                        return NSFetchRequest<Author>(entityName: "Author")
                    }
                }

                nonisolated extension Author: _AuthorFetching {}


                """))
        #expect(
            texts.filter { $0.value.contains(": Identifiable") }.keys.sorted() == ["Person+CoreDataProperties.swift"])
        #expect(texts["Poet+CoreDataClass.swift"] == "nonisolated public class Poet: Author {\n}\n")
        #expect(texts["Poet+CoreDataProperties.swift"]?.contains("public class func fetchRequest()") == true)
    }

    @Test func inheritedStepsAreListedInFull() throws {
        let texts = try ModelSource(Self.family).texts()
        func paths(_ file: String) throws -> [String] {
            try #require(texts[file]).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("\\") }
        }
        #expect(
            try paths("Author+CoreDataProperties.swift") == [
                #"\Author.editor: "editor","#, #"\Author.editor?.name: "editor.name","#, #"\Author.name: "name","#,
            ])
        #expect(
            try paths("Poet+CoreDataProperties.swift") == [
                #"\Poet.editor: "editor","#, #"\Poet.editor?.editor: "editor.editor","#,
                #"\Poet.editor?.name: "editor.name","#, #"\Poet.name: "name","#,
            ])
    }

    @Test func theClassAboveIsThatOfTheNearestEntityWithOne() throws {
        let source = try ModelSource(
            """
            <entity name="Own" representedClassName="MyOwn"/>
            <entity name="Plain" representedClassName="NSManagedObject" parentEntity="Own"/>
            <entity name="Child" representedClassName="Child" parentEntity="Plain" codeGenerationType="class"/>
            <entity name="Orphan" representedClassName="Orphan" parentEntity="Nameless" codeGenerationType="class"/>
            <entity name="Nameless"/>
            """)
        let texts = try source.texts()
        #expect(texts["Child+CoreDataClass.swift"] == "nonisolated public class Child: MyOwn {\n}\n")
        #expect(texts["Child+CoreDataProperties.swift"]?.contains("Identifiable") == false)
        #expect(texts["Orphan+CoreDataClass.swift"] == "nonisolated public class Orphan: NSManagedObject {\n}\n")
        #expect(texts["Orphan+CoreDataProperties.swift"]?.contains("extension Orphan: Identifiable {}") == true)
    }

    // MARK: Choices

    @Test func onlyWhatTheModelAsksForIsGenerated() throws {
        let source = try ModelSource(
            """
            <entity name="A" representedClassName="A" codeGenerationType="class"/>
            <entity name="B" representedClassName="B" codeGenerationType="category"/>
            <entity name="C" representedClassName="C"/>
            <entity name="D" codeGenerationType="class"/>
            """)
        #expect(try source.generation().entityNames == ["A", "B"])
        #expect(try source.generation(GenerationOptions(includesManual: true)).entityNames == ["A", "B", "C"])
        #expect(try source.generation(GenerationOptions(.humanMachine)).entityNames == ["A", "B", "C"])
    }

    @Test func humansHaveTheirOwnFile() throws {
        let files = try ModelSource(Self.family).generation(GenerationOptions(.humanMachine)).files
        #expect(files.filter(\.isWrittenOnce).map(\.name) == ["Author.swift", "Person.swift", "Poet.swift"])
        let author = try #require(files.first { $0.name == "Author.swift" })
        #expect(author.text.contains("nonisolated open class Author: _Author {\n    // Custom logic goes here.\n}\n"))
        #expect(!author.text.contains(ClassGeneration.mark))
        let machine = try #require(files.first { $0.name == "_Author.swift" })
        #expect(machine.text.hasPrefix(ClassGeneration.mark))
        #expect(machine.text.contains("nonisolated open class _Author: Person {\n    open var editor: Author? {\n"))
        #expect(machine.text.contains(#"\Author.editor?.editor: "editor.editor","#))
    }

    @Test func namesOfTheLibraryAreToldFromThoseOfTheModel() throws {
        let source = try ModelSource(
            """
            <entity name="Date" representedClassName="Date" codeGenerationType="class">
                <attribute name="day" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
                <attribute name="note" optional="YES" attributeType="String"/>
            </entity>
            """)
        let file = try #require(try source.generation().files.first)
        #expect(file.text.contains("public var day: Foundation.Date? {"))
        #expect(file.text.contains("public var note: String? {"))
        #expect(file.text.contains("\n    import Foundation\n"))
    }

    @Test func classesOfOtherModulesAreUsedFromThere() throws {
        let source = try ModelSource(
            """
            <entity name="Item" representedClassName="Shop.Item" parentEntity="Thing" codeGenerationType="class">
                <relationship name="shelf" optional="YES" maxCount="1" destinationEntity="Shelf"/>
            </entity>
            <entity name="Shelf" representedClassName="Store.Shelf" codeGenerationType="class"/>
            <entity name="Thing" representedClassName="Base.Thing"/>
            """)
        var options = GenerationOptions()
        #expect(try source.generation(options).entityNames == ["Item", "Shelf"])
        options.module = "Shop"
        let generation = try source.generation(options)
        #expect(generation.entityNames == ["Item"])
        let text = try #require(generation.files.first?.text)
        #expect(text.contains("    import CoreData\n    import Base\n    import Store\n"))
        #expect(text.contains("public class Item: Base.Thing {\n    public var shelf: Store.Shelf? {"))
    }

    // MARK: Mistakes

    private func problem(_ body: String) throws -> (message: String, line: Int?) {
        do {
            _ = try ModelSource(body).generation()
        } catch let failure as ModelFailure {
            let first = try #require(failure.diagnostics.first)
            return (first.message, first.location?.line)
        }
        return ("", nil)
    }

    @Test func mistakesAreToldAtTheirPlace() throws {
        let reserved = try problem(
            """
            <entity name="A" representedClassName="A" codeGenerationType="class">
            <attribute name="objectID" optional="YES" attributeType="String"/>
            </entity>
            """)
        #expect(reserved.message == "property 'A.objectID' has the name of a method of NSManagedObject")
        #expect(reserved.line == 3)
        let twice = try problem(
            """
            <entity name="A" representedClassName="Same" codeGenerationType="class"/>
            <entity name="B" representedClassName="Same" codeGenerationType="class"/>
            """)
        #expect(twice.message == "entities 'A' and 'B' would both generate class 'Same'")
        #expect(twice.line == 3)
    }
}
