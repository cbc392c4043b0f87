import CoreData
import Foundation
import TestSupport
import Testing

// store-format §16
@Suite struct XMLStoreTests {
    /// Core Data XML stores that Apple's tools wrote.
    private static let fixtures = [
        "grocery-dude/Model2toModel3", "grocery-dude/Model3toModel4", "grocery-dude/Model7toModel8",
        "sample-model/V2toV3", "unclouded-notes/UnCloudNotesMappingModel_v2_to_v3",
        "unclouded-notes/UnCloudNotesMappingModel_v3_to_v4",
    ].map { "\($0).xcmappingmodel/xcmapping.xml" }

    /// The model of Xcode's mapping models (§15).
    private static func mappingModel() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            for (name, type) in attributes {
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = type
                attribute.isOptional = true
                entity.properties.append(attribute)
            }
            return entity
        }
        let model = entity(
            "XDDevMappingModel",
            [
                ("sourceModelPath", .stringAttributeType), ("destinationModelPath", .stringAttributeType),
                ("sourceModelData", .binaryDataAttributeType), ("destinationModelData", .binaryDataAttributeType),
            ])
        let mapping = entity(
            "XDDevEntityMapping",
            [
                ("name", .stringAttributeType), ("sourceName", .stringAttributeType),
                ("destinationName", .stringAttributeType), ("mappingTypeName", .stringAttributeType),
                ("mappingNumber", .integer16AttributeType), ("sourceFilterPredicateString", .stringAttributeType),
                ("migrationPolicyClassName", .stringAttributeType), ("autoGenerateExpression", .booleanAttributeType),
                ("sourceExpressionData", .binaryDataAttributeType), ("userInfoData", .binaryDataAttributeType),
            ])
        let property = entity(
            "XDDevPropertyMapping",
            [
                ("name", .stringAttributeType), ("valueExpressionData", .binaryDataAttributeType),
                ("userInfoData", .binaryDataAttributeType),
            ])
        property.isAbstract = true
        let attribute = entity("XDDevAttributeMapping", [])
        let relationship = entity(
            "XDDevRelationshipMapping",
            [
                ("sourceKeyPath", .stringAttributeType), ("sourceMappingName", .stringAttributeType),
                ("autoGenerateExpression", .booleanAttributeType),
            ])
        property.subentities = [attribute, relationship]
        connect(model, "entityMappings", mapping, "mappingModel")
        connect(mapping, "attributeMappings", attribute, "entityMapping")
        connect(mapping, "relationshipMappings", relationship, "entityMapping")
        let made = NSManagedObjectModel()
        made.entities = [model, mapping, property, attribute, relationship]
        return made
    }

    private static func connect(
        _ owner: NSEntityDescription, _ many: String, _ member: NSEntityDescription, _ one: String
    ) {
        let toMany = NSRelationshipDescription()
        (toMany.name, toMany.destinationEntity, toMany.isOptional) = (many, member, true)
        let toOne = NSRelationshipDescription()
        (toOne.name, toOne.destinationEntity) = (one, owner)
        (toOne.minCount, toOne.maxCount, toOne.isOptional) = (1, 1, false)
        (toMany.inverseRelationship, toOne.inverseRelationship) = (toOne, toMany)
        owner.properties.append(toMany)
        member.properties.append(toOne)
    }

    /// The lines of a store; what comes in the order of a hash table with Apple is sorted: the attributes of an object and the
    /// members of a to-many.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var object: [String] = []
        var isInObject = false
        // Values have line ends of their own.
        for line in text.replacing("\n        <", with: "\u{1}        <").split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            for part in line.split(separator: "\u{1}", omittingEmptySubsequences: false).map(String.init) {
                if part.hasPrefix("    <object") { isInObject = true }
                if isInObject, part.hasPrefix("        <") {
                    object.append(sorted(part))
                    continue
                }
                if isInObject, !part.hasPrefix("    <"), !object.isEmpty {
                    object[object.count - 1] += "\n" + part
                    continue
                }
                if part == "    </object>" {
                    lines += object.sorted()
                    (object, isInObject) = ([], false)
                }
                lines.append(part)
            }
        }
        return lines
    }

    private static func sorted(_ relationship: String) -> String {
        guard let start = relationship.range(of: "idrefs=\""),
            let end = relationship.range(of: "\"", range: start.upperBound..<relationship.endIndex)
        else { return relationship }
        let ids = relationship[start.upperBound..<end.lowerBound].split(separator: " ").sorted().joined(separator: " ")
        return relationship.replacingCharacters(in: start.upperBound..<end.lowerBound, with: ids)
    }

    @Test(
        "§16: what Apple's tools wrote is written again as it was",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)), arguments: fixtures)
    func applesFilesAreWrittenAsTheyWere(path: String) throws {
        let url = try Fixtures.temporaryCopy(path)
        let coordinator = try NSPersistentStoreCoordinator(validating: Self.mappingModel())
        let store = try coordinator.addPersistentStore(
            type: .xml, at: url, options: [NSIgnorePersistentStoreVersioningOption: NSNumber(value: true)])
        let original = try String(contentsOf: Fixtures.url(path), encoding: .utf8)
        let ids = try FileStack.story(coordinator) { context in
            let mappings = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "XDDevEntityMapping"))
            #expect(!mappings.isEmpty)
            for mapping in mappings {
                #expect(mapping.value(forKey: "mappingTypeName") as? String == "Undefined")
            }
            // Metadata that are set are written, though they are the same.
            coordinator.setMetadata(store.metadata, for: store)
            try context.save()
            return mappings.map { $0.objectID.uriRepresentation().lastPathComponent }
        }
        #expect(ids.allSatisfy { original.contains("id=\"z\($0.dropFirst())\"") })
        let written = try String(contentsOf: url, encoding: .utf8)
        let standalone = ("standalone=\"no\"", "standalone=\"yes\"")
        let (new, old) = (Self.lines(written), Self.lines(original.replacing(standalone.0, with: standalone.1)))
        #expect(new.count == old.count)
        for (new, old) in zip(new, old) { #expect(new == old) }
    }

    @Test("§16: names, ids, types and order of a new store are those of Apple's")
    func form() throws {
        let stack = try FileStack(.xml)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma & <Co>"
            book.isLent = true
            book.published = Date(timeIntervalSinceReferenceDate: 0.5)
            try context.save()
            #expect(book.objectID.uriRepresentation().lastPathComponent == "p102")
        }
        let text = try String(contentsOf: stack.url, encoding: .utf8)
        #expect(
            text.hasPrefix(
                """
                <?xml version="1.0" standalone="yes"?>
                <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

                <database>
                    <databaseInfo>
                        <version>134481920</version>
                        <UUID>\(stack.store.identifier ?? "")</UUID>
                        <nextObjectID>102</nextObjectID>
                        <metadata>
                            <plist version="1.0">
                                <dict>
                """))
        #expect(text.hasSuffix("    </object>\n</database>"))
        #expect(text.contains("    <object type=\"BOOK\" id=\"z102\">\n"))
        #expect(text.contains("        <attribute name=\"title\" type=\"string\">Emma &amp; &lt;Co&gt;</attribute>\n"))
        #expect(text.contains("        <attribute name=\"islent\" type=\"bool\">1</attribute>\n"))
        #expect(
            text.contains("        <attribute name=\"published\" type=\"date\">0.50000000000000000000</attribute>\n"))
        #expect(
            text.contains("        <relationship name=\"author\" type=\"0/1\" destination=\"AUTHOR\"></relationship>\n")
        )
        #expect(text.contains("        <relationship name=\"tags\" type=\"0/0\" destination=\"TAG\"></relationship>\n"))
        #expect(!text.contains("name=\"note\""), "transient")
    }

    @Test(
        "A broken file is 259, with the line of what is wrong",
        arguments: [
            ("type=\"BOOK\"", "type=\"BOAT\"", "no entity 'BOAT'"),
            ("name=\"title\"", "name=\"tidle\"", "no property 'tidle'"),
            ("id=\"z102\"", "id=\"102\"", "'102' is no id"),
            (">1</attribute>", ">maybe</attribute>", "'maybe', which is no bool"),
            ("</object>", "</objekt>", "object"), ("</database>", "", "database"),
        ])
    func brokenFile(old: String, new: String, message: String) throws {
        let stack = try FileStack(.xml)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            book.isLent = true
            try context.save()
        }
        let text = try String(contentsOf: stack.url, encoding: .utf8)
        #expect(text.contains(old))
        try text.replacing(old, with: new).write(to: stack.url, atomically: false, encoding: .utf8)
        let error = try #require(throws: CocoaError.self) { _ = try stack.newCoordinator() }
        #expect(error.code == .fileReadCorruptFile)
        #expect(error.localizedDescription.contains(message), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("line "), "\(error.localizedDescription)")
    }

    @Test("Names that would be one in the file are refused, naming both")
    func sameNames() throws {
        let model = NSManagedObjectModel()
        model.entities = ["Item", "ITEM"].map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let error = try #require(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(validating: model).addPersistentStore(type: .xml, at: url)
        }
        #expect(
            error.localizedDescription.contains("'Item' and 'ITEM'")
                || error.localizedDescription.contains("'ITEM' and 'Item'"))
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
